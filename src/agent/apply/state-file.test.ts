import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FailingDisk } from '../../../test/property/disk-faults/failing-disk.ts';
import { advanceFence, emptyState } from '../state.ts';
import type { Disk } from './disk.ts';
import { readState, StateFile, UnknownStateError } from './memory.ts';

let disk: Disk;
let writes: string[];
let path: string;
beforeEach(async () => {
  const hostRoot = await mkdtemp(join(tmpdir(), 'multinic-state-'));
  writes = [];
  path = join(hostRoot, 'var/lib/multinic/state.json');
  disk = {
    hostRoot,
    perform: async (name, write) => {
      writes.push(name);
      return write();
    },
  };
});
afterEach(() => rm(disk.hostRoot, { recursive: true }));

const seen = advanceFence(emptyState, { uid: 'a', generation: 1 });

describe('state.json', () => {
  test('readState returns the empty state on a new host', () => {
    expect(readState(disk.hostRoot)).toEqual(emptyState);
  });

  test('readState returns the written state from a file with mode 0600', async () => {
    await new StateFile(emptyState, disk).write(seen);
    expect(readState(disk.hostRoot)).toEqual(seen);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  test('StateFile writes only changed content', async () => {
    const file = new StateFile(emptyState, disk);
    await file.write(emptyState);
    await file.write(seen);
    await file.write({ ...seen });
    expect(writes).toEqual(['agent.state.write']);
  });

  test('StateFile writes again after a failure behind the rename', async () => {
    let failing = true;
    const file = new StateFile(emptyState, {
      ...disk,
      perform: async (_, write) => {
        const written = await write();
        if (failing) throw new Error('no word from the disk');
        return written;
      },
    });
    await expect(file.write(seen)).rejects.toThrow('no word');
    failing = false;
    await file.write(emptyState);
    expect(readState(disk.hostRoot)).toEqual(emptyState);
  });

  test.each(['first', 'later'])(
    'state.json keeps the previous content if the %s write cannot be synced to a full disk',
    async (which) => {
      const before = which === 'first' ? emptyState : seen;
      const file = new StateFile(emptyState, disk);
      await file.write(before);
      // Write 5 is the folder sync after the rename.
      using full = new FailingDisk(disk.hostRoot, { at: 5, fault: 'ENOSPC' });
      const next = advanceFence(seen, { uid: 'a', generation: 2 });
      await expect(file.write(next)).rejects.toThrow('ENOSPC: fsync multinic');
      await expect(file.write(before)).rejects.toThrow('ENOSPC');
      expect(full.hit).toBe(true);
      expect(readState(disk.hostRoot)).toEqual(before);
    },
  );

  test.each([1, 2])(
    'state.json version %i is read, and converted to version 3',
    async (version) => {
      await mkdir(join(disk.hostRoot, 'var/lib/multinic'), { recursive: true });
      const nic = { mac: 'm', index: 0, originalName: 'ens5', addresses: [], table: 100 };
      const nics = [{ ...nic, priority: 10_100, files: [] }];
      await writeFile(path, JSON.stringify({ version, retiredUids: [], nics }));
      expect(readState(disk.hostRoot)).toEqual({ version: 3, retiredUids: [], nics });
    },
  );

  test.each([
    ['{"version": 4}', 'has version 4, this agent supports 1, 2 and 3'],
    ['{}', 'has version none'],
    ['{"version": 1, "retiredUids": [], "nics": [{"mac": 3}]}', 'is damaged at nics.0.mac'],
    ['{"version": 1', 'is not valid JSON'],
  ])('readState refuses and keeps state.json with content %s', async (text, words) => {
    await mkdir(join(disk.hostRoot, 'var/lib/multinic'), { recursive: true });
    await writeFile(path, text);
    expect(() => readState(disk.hostRoot)).toThrow(words);
    expect(() => readState(disk.hostRoot)).toThrow(UnknownStateError);
    expect(await readFile(path, 'utf8')).toBe(text);
  });
});
