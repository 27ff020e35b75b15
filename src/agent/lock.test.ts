import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../time/clock.ts';
import { createFakeClock } from '../time/fake-clock.ts';
import { underLock } from './lock.ts';

const { signal } = new AbortController();
let hostRoot: string;
beforeEach(() => {
  hostRoot = mkdtempSync(join(tmpdir(), 'multinic-lock-'));
});
afterEach(() => rmSync(hostRoot, { recursive: true }));

/** Holds the lock until the returned function is called. */
async function holdLock() {
  const { promise, resolve } = Promise.withResolvers<void>();
  const taken = Promise.withResolvers<void>();
  const work = async () => {
    taken.resolve();
    await promise;
  };
  const done = underLock({ hostRoot, clock: systemClock, signal }, work);
  await taken.promise;
  return async () => {
    resolve();
    await done;
  };
}

/** SQLite database with two pages. */
function databaseOfOthers(): Buffer {
  const directory = mkdtempSync(join(tmpdir(), 'multinic-database-'));
  const path = join(directory, 'database');
  const database = new DatabaseSync(path);
  database.exec('CREATE TABLE a (b)');
  database.close();
  const content = readFileSync(path);
  rmSync(directory, { recursive: true });
  return content;
}

describe('host lock', () => {
  test('a read-only run creates no lock, and waits for an existing lock', async () => {
    const reader = { hostRoot, clock: systemClock, signal, readOnly: true };
    expect(await underLock(reader, async () => 'read')).toBe('read');
    expect(readdirSync(hostRoot)).toEqual([]);
    const release = await holdLock();
    const clock = createFakeClock();
    const waiting = underLock({ ...reader, clock }, async () => 'read');
    await expect.poll(() => clock.waits.length).toBe(1);
    await release();
    await clock.advance(200);
    expect(await waiting).toBe('read');
  });

  test('[RW-23] a second run waits for the lock until the first has ended', async () => {
    const release = await holdLock();
    const clock = createFakeClock();
    const order: string[] = [];
    const second = underLock({ hostRoot, clock, signal }, async () => void order.push('second'));
    await expect.poll(() => clock.waits.length).toBe(1);
    expect(order).toEqual([]);
    await release();
    await clock.advance(200);
    await second;
    expect(order).toEqual(['second']);
  });

  test('waiting for the lock ends after a minute with an error', async () => {
    const release = await holdLock();
    const clock = createFakeClock();
    const second = underLock({ hostRoot, clock, signal }, async () => 'never');
    const rejection = expect(second).rejects.toThrow(
      'another agent run on this host holds the lock',
    );
    const patience = expect.poll(async () => {
      await clock.advance(61_000);
      return clock.waits.length;
    });
    await patience.toBe(0);
    await rejection;
    await release();
  });

  test('the lock is free again after failed work', async () => {
    const failing = underLock({ hostRoot, clock: systemClock, signal }, async () => {
      throw new Error('work failed');
    });
    await expect(failing).rejects.toThrow('work failed');
    const next = underLock({ hostRoot, clock: createFakeClock(), signal }, async () => 'done');
    expect(await next).toBe('done');
  });

  test('the lock of a killed run is free', async () => {
    const code = `
      const { underLock } = await import(process.argv[1]);
      const { systemClock: clock } = await import(process.argv[2]);
      const { signal } = new AbortController();
      await underLock({ hostRoot: process.argv[3], clock, signal }, () => {
        console.log('held');
        // A promise that nothing can settle is garbage, and with it the lock.
        return new Promise((resolve) => setInterval(() => resolve, 1_000));
      });`;
    const files = ['./lock.ts', '../time/clock.ts'].map((file) => import.meta.resolve(file));
    const argv = ['--input-type=module', '-e', code, ...files, hostRoot];
    const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout, 'data');
    const clock = createFakeClock();
    const next = underLock({ hostRoot, clock, signal }, async () => 'done');
    await expect.poll(() => clock.waits.length).toBe(1);
    child.kill('SIGKILL');
    await once(child, 'exit');
    await clock.advance(200);
    expect(await next).toBe('done');
  });

  test.each([
    ['text', Buffer.from('half a line of a log, '.repeat(100))],
    ['half a database', databaseOfOthers().subarray(0, 4096)],
  ])('a lock file containing %s can be taken', async (_, content) => {
    mkdirSync(join(hostRoot, 'var/lib/multinic'), { recursive: true });
    writeFileSync(join(hostRoot, 'var/lib/multinic/lock'), content);
    const clock = createFakeClock();
    const run = underLock({ hostRoot, clock, signal }, async () => 'done');
    await clock.advance(200);
    expect(await run).toBe('done');
  });

  test('the lock file is readable by root only', async () => {
    const release = await holdLock();
    const directory = join(hostRoot, 'var/lib/multinic');
    expect(statSync(join(directory, 'lock')).mode & 0o777).toBe(0o600);
    expect(readdirSync(directory)).toEqual(['lock']);
    await release();
  });

  test('waiting for the lock ends when the run must stop', async () => {
    const release = await holdLock();
    const stopping = new AbortController();
    const clock = createFakeClock();
    const waiting = underLock({ hostRoot, clock, signal: stopping.signal }, async () => 'never');
    const rejection = expect(waiting).rejects.toThrow('stop');
    await expect.poll(() => clock.waits.length).toBe(1);
    stopping.abort(new Error('stop'));
    await rejection;
    await release();
  });
});
