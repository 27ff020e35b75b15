import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { otherCa, violaCa } from '../../test/fixtures/certificates.ts';
import { createLogger } from '../process/log.ts';
import { openCaBundle } from './ca-bundle.ts';

const log = createLogger({ part: 'test', level: 'silent' });
let directory = '';
let path = '';

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'ca-bundle-'));
  path = join(directory, 'ca.pem');
});
afterEach(() => rmSync(directory, { recursive: true }));

it('the CA bundle is read at each use', async () => {
  writeFileSync(path, violaCa);
  const bundle = await openCaBundle(path, log);
  expect(await bundle()).toBe(violaCa);
  writeFileSync(path, otherCa);
  expect(await bundle()).toBe(otherCa);
});

it.each([
  ['is empty', ''],
  ['is truncated', violaCa.slice(0, 200)],
  ['is truncated after the first certificate', violaCa + otherCa.slice(0, 200)],
  ['holds no certificate', 'no such thing'],
])(
  'a CA file that %s is refused at start, and later the last good bundle stays in use',
  async (_, text) => {
    writeFileSync(path, text);
    await expect(openCaBundle(path, log)).rejects.toThrow(path);
    writeFileSync(path, violaCa);
    const bundle = await openCaBundle(path, log);
    writeFileSync(path, text);
    expect(await bundle()).toBe(violaCa);
  },
);

it('the last good CA bundle stays in use when the file is deleted', async () => {
  writeFileSync(path, violaCa);
  const bundle = await openCaBundle(path, log);
  rmSync(path);
  expect(await bundle()).toBe(violaCa);
});

it('a missing CA file is refused with the required content', async () => {
  const message = `${path} cannot be used: ENOENT`;
  await expect(openCaBundle(path, log)).rejects.toThrow(message);
  await expect(openCaBundle(path, log)).rejects.toThrow('the file must contain PEM certificates');
});
