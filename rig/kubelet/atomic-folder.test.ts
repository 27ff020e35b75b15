import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { AtomicFolder } from './atomic-folder.ts';

it('shows the files of one content, and nothing of the one before', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'atomic-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const folder = new AtomicFolder(join(directory, 'volume'));
  const shown = async () => {
    const names = (await readdir(folder.path)).filter((name) => !name.startsWith('..'));
    const texts = names.map(
      async (name) => `${name} ${await readFile(join(folder.path, name), 'utf8')}`,
    );
    return (await Promise.all(texts)).toSorted();
  };
  await folder.replace({ a: '1', b: '1' });
  expect(await shown()).toEqual(['a 1', 'b 1']);
  await folder.replace({ b: '2', c: '2' });
  expect(await shown()).toEqual(['b 2', 'c 2']);
  const hidden = (await readdir(folder.path)).filter((name) => name.startsWith('..'));
  expect(hidden).toHaveLength(2);
});
