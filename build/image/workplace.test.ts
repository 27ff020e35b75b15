import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { putWhole, withFolder } from './workplace.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'multinic-workplace-'));
});

afterEach(() => rm(folder, { recursive: true }));

describe('a folder to work in', () => {
  it('the workplace is removed after success and after failure', async () => {
    const made: string[] = [];
    const work = (path: string): string => {
      expect(existsSync(path)).toBe(true);
      made.push(path);
      return 'done';
    };
    expect(await withFolder(join(folder, 'a-'), async (path) => work(path))).toBe('done');
    const failing = withFolder(join(folder, 'b-'), async (path) => {
      throw new Error(work(path));
    });
    await expect(failing).rejects.toThrow('done');
    expect(made).toHaveLength(2);
    expect(await readdir(folder)).toEqual([]);
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)(
    'the workplace is removed after %s, with all nested workplaces',
    async (signal, status) => {
      const program = `import { writeFileSync } from 'node:fs';
      import { withFolder } from '${join(import.meta.dirname, 'workplace.ts')}';
      setInterval(() => undefined, 1000);
      await withFolder('${folder}/outer-', (outer) => withFolder('${folder}/inner-', async (inner) => {
        for (const path of [outer, inner]) writeFileSync(path + '/file', 'half of it');
        console.log('works');
        await new Promise(() => undefined);
      }));`;
      const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const ended = once(child, 'close');
      await once(child.stdout, 'data');
      expect(await readdir(folder)).toHaveLength(2);
      child.kill(signal);
      expect(await ended).toEqual([status, null]);
      expect(await readdir(folder)).toEqual([]);
    },
  );

  it('after the workplace ends, a signal ends the program again', async () => {
    const before = ['SIGINT', 'SIGTERM', 'SIGHUP', 'exit'].map((name) =>
      process.listenerCount(name),
    );
    await withFolder(join(folder, 'a-'), async () => undefined);
    const after = ['SIGINT', 'SIGTERM', 'SIGHUP', 'exit'].map((name) =>
      process.listenerCount(name),
    );
    expect(after).toEqual(before);
  });
});

describe('a file', () => {
  it('the file appears only when complete', async () => {
    const place = join(folder, 'archive.tar');
    await writeFile(place, 'of an earlier time');
    await putWhole(place, async (path) => {
      await writeFile(path, 'half');
      expect(await readFile(place, 'utf8')).toBe('of an earlier time');
      await writeFile(path, 'whole');
    });
    expect(await readFile(place, 'utf8')).toBe('whole');
    expect(await readdir(folder)).toEqual(['archive.tar']);
  });

  it('the file stays unchanged when the replacement fails', async () => {
    const place = join(folder, 'archive.tar');
    await writeFile(place, 'of an earlier time');
    const failing = putWhole(place, async (path) => {
      await writeFile(path, 'half');
      throw new Error('no space left');
    });
    await expect(failing).rejects.toThrow('no space left');
    expect(await readFile(place, 'utf8')).toBe('of an earlier time');
    expect(await readdir(folder)).toEqual(['archive.tar']);
  });
});
