import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AtomicFolder } from '../../rig/kubelet/atomic-folder.ts';
import { createHealth } from '../process/health.ts';
import { createLogger } from '../process/log.ts';
import { createFakeClock } from '../time/fake-clock.ts';
import { openTokenFile, tokenGraceMs } from './token-file.ts';
import { operatorVerbs, type Verb } from './who-may.ts';

const grant = (name: string) => ({
  name,
  sha256: 'a'.repeat(64),
  providers: ['biz-1'],
  verbs: ['read'],
});
const [one, two] = [JSON.stringify([grant('a')]), JSON.stringify([grant('a'), grant('b')])];
let directory = '';
let path = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tokens-'));
  path = join(directory, 'tokens.yaml');
  await writeFile(path, two);
});

afterEach(async () => {
  await rm(directory, { recursive: true });
});

async function open(madeBy?: string, verbs?: readonly Verb[]) {
  const clock = createFakeClock();
  const health = createHealth();
  const usable: boolean[] = [];
  const lines: string[] = [];
  const file = await openTokenFile(path, {
    clock,
    health,
    log: createLogger({
      part: 'test',
      level: 'info',
      destination: { write: (line) => void lines.push(line) },
    }),
    onRead: (is) => void usable.push(is),
    ...(madeBy === undefined ? {} : { madeBy }),
    ...(verbs && { verbs }),
  });
  const names = async () => (await file.current()).map(({ name }) => name);
  return { clock, file, health, usable, names, lines };
}

describe('openTokenFile', () => {
  it('openTokenFile notices added and withdrawn tokens, even with equal file size and time', async () => {
    const { names } = await open();
    expect(await names()).toEqual(['a', 'b']);
    await writeFile(path, one);
    expect(await names()).toEqual(['a']);
    await writeFile(path, JSON.stringify([grant('c')]));
    expect(await names()).toEqual(['c']);
  });

  it.each([
    ['is gone', () => rm(path)],
    ['is broken', () => writeFile(path, '- name: broken')],
    ['is invalid YAML', () => writeFile(path, '[')],
  ])(
    'all tokens are refused 30 s after the file %s, until the file is valid again',
    async (_, harm) => {
      const { names, clock, health, usable } = await open();
      await harm();
      expect(await names()).toEqual(['a', 'b']);
      await clock.advance(tokenGraceMs - 1);
      expect(await names()).toEqual(['a', 'b']);
      await clock.advance(1);
      await expect(names()).rejects.toMatchObject({ status: 503, code: 'TokensUnavailable' });
      expect(health.readiness().failing).toHaveProperty('tokens');
      expect(usable.at(-1)).toBe(false);
      await writeFile(path, one);
      expect(await names()).toEqual(['a']);
      expect([health.readiness().ok, usable.at(-1)]).toEqual([true, true]);
    },
  );

  it('the readiness probe reports a broken token file without any API call', async () => {
    const { health } = await open();
    await rm(path);
    await expect.poll(() => health.readiness().ok).toBe(false);
  });

  it('openTokenFile rejects invalid grants at start, with path and problem', async () => {
    await writeFile(path, '[{name: x, sha256: abc, providers: [p], verbs: [fly]}]');
    await expect(open()).rejects.toThrow(/0\.sha256: must be 64 hexadecimal digits.*0\.verbs\.0/s);
  });

  it('a token file with the verb plan opens only where the server knows the verb', async () => {
    const granted = { name: 'x', sha256: 'a'.repeat(64), providers: ['p'], verbs: ['plan'] };
    await writeFile(path, JSON.stringify([granted]));
    await expect(open()).rejects.toThrow(/0\.verbs\.0/);
    const { file } = await open(undefined, operatorVerbs);
    expect(await file.current()).toEqual([granted]);
  });

  it('openTokenFile reports a missing file at start with the advice from madeBy', async () => {
    await rm(path);
    await expect(open()).rejects.toThrow(
      `token file ${path} does not exist: create it as described in docs/guides`,
    );
    await expect(open('ask Alice')).rejects.toThrow(`token file ${path} does not exist: ask Alice`);
  });

  it('openTokenFile names the file with invalid YAML', async () => {
    await writeFile(path, '[');
    await expect(open()).rejects.toThrow(`token file ${path}: YAMLParseError`);
  });
});

describe('token folder', () => {
  let folder: AtomicFolder;

  beforeEach(async () => {
    path = join(directory, 'tokens');
    folder = new AtomicFolder(path);
    await folder.replace({ 'b.yaml': JSON.stringify([grant('b')]), 'a.yaml': two });
  });

  it('all *.yaml files in a token folder form one list, sorted by name; hidden and other files are ignored', async () => {
    await writeFile(join(path, '.hidden.yaml'), 'not a list');
    await writeFile(join(path, 'notes.txt'), 'not a list');
    const { names } = await open();
    expect(await names()).toEqual(['a', 'b', 'b']);
    await folder.replace({ 'c.yaml': JSON.stringify([grant('c')]) });
    expect(await names()).toEqual(['c']);
  });

  it('a token folder may be a plain folder without kubelet links', async () => {
    path = join(directory, 'plain');
    await mkdir(path);
    await writeFile(join(path, 'one.yaml'), one);
    for (const other of ['.hidden.yaml', 'notes-yaml', '.yaml'])
      await writeFile(join(path, other), '?');
    const { names } = await open();
    expect(await names()).toEqual(['a']);
  });

  it('a token folder is read through the ..data link, not through half-replaced links', async () => {
    const { names } = await open();
    await folder.replace({ 'c.yaml': JSON.stringify([grant('c')]) });
    await rm(join(path, 'c.yaml'));
    await symlink('..data/a.yaml', join(path, 'a.yaml'));
    expect(await names()).toEqual(['c']);
  });

  it.each([
    ['all files in the folder are broken', { 'a.yaml': '[', 'b.yaml': '- name: broken' }, 'a.yaml'],
    ['the folder has no token file', { 'notes.txt': '' }, 'has no *.yaml file'],
    [
      'all files are hidden or have other names',
      { '.a.yaml': two, ayaml: two },
      'has no *.yaml file',
    ],
  ])(
    'all tokens are refused 30 s after %s, with the file name in readiness',
    async (_, files, named) => {
      const { names, clock, health, usable } = await open();
      await folder.replace(files);
      expect(await names()).toEqual(['a', 'b', 'b']);
      expect(health.readiness().failing['tokens']).toContain(named);
      await clock.advance(tokenGraceMs);
      await expect(names()).rejects.toMatchObject({ code: 'TokensUnavailable' });
      expect(usable.at(-1)).toBe(false);
      await folder.replace({ 'a.yaml': one });
      expect(await names()).toEqual(['a']);
      expect(usable.at(-1)).toBe(true);
    },
  );

  it.each([
    ['an invalid list of grants', '- name: broken'],
    ['invalid YAML', '['],
  ])('a file with %s loses only its own tokens after 30 s, and is logged', async (_, text) => {
    const { names, clock, health, usable, lines } = await open();
    await folder.replace({ 'a.yaml': two, 'b.yaml': text });
    expect(await names()).toEqual(['a', 'b', 'b']);
    await clock.advance(tokenGraceMs - 1);
    await folder.replace({ 'a.yaml': two, 'b.yaml': `${text} # tried` });
    expect(await names()).toEqual(['a', 'b', 'b']);
    await clock.advance(1);
    expect(await names()).toEqual(['a', 'b']);
    expect([health.readiness().ok, usable.at(-1)]).toEqual([true, false]);
    expect(lines.join()).toContain(`token file ${join(path, 'b.yaml')}`);
    await folder.replace({ 'a.yaml': one });
    expect(await names()).toEqual(['a']);
    expect(usable.at(-1)).toBe(true);
  });

  it.each(['people.yaml', '0.yaml'])(
    'openTokenFile opens a folder with the usable files beside a broken %s',
    async (broken) => {
      await folder.replace({ 'a.yaml': two, [broken]: '[' });
      const { names, usable, lines } = await open();
      expect(await names()).toEqual(['a', 'b']);
      expect(usable).toEqual([false]);
      expect(lines.filter((line) => line.includes(broken))).toHaveLength(1);
      expect(lines.filter((line) => line.includes('token file read'))).toHaveLength(1);
      await folder.replace({ 'people.yaml': '[' });
      await expect(open()).rejects.toThrow('people.yaml');
    },
  );

  it('openTokenFile names a folder entry that is not a file', async () => {
    await mkdir(join(directory, 'odd', 'x.yaml'), { recursive: true });
    path = join(directory, 'odd');
    await expect(open()).rejects.toThrow(`${join(path, 'x.yaml')}: Error: EISDIR`);
  });
});
