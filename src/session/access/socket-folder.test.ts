import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createSocketFolder } from './socket-folder.ts';

async function temporary(...below: readonly string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sockets-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, ...below);
  await mkdir(path, { recursive: true });
  return path;
}

it.each([
  ['has 95 characters', async () => temporary('a'.repeat(95))],
  ['does not exist', async () => join(await temporary(), 'absent')],
])('createSocketFolder takes the next folder with mode 0700 when TMPDIR %s', async (_, first) => {
  const short = await temporary();
  const folder = await createSocketFolder([await first(), short]);
  expect(dirname(folder)).toBe(short);
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
});

it('createSocketFolder names each folder and the next step when none is usable', async () => {
  const long = await temporary('b'.repeat(95));
  const error = await createSocketFolder([long, '/absent']).catch((reason: unknown) => reason);
  expect(error).toMatchObject({
    message: expect.stringMatching(/b{95} has \d+ characters; ENOENT.*\/absent/) as string,
    next: { en: expect.stringContaining('TMPDIR') as string },
  });
});
