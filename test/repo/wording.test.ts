import { spawnSync } from 'node:child_process';
import { mkdtempDisposableSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { proseOf } from './prose.ts';
import { filesBelow, root, textOf } from './tree.ts';
import baseline from './wording.json' with { type: 'json' };
import {
  type Baseline,
  indefiniteShare,
  type Limits,
  limitsOf,
  raisedLimits,
  wordingByFolder,
} from './wording.ts';

const folders = wordingByFolder();
const allowed: Baseline = baseline;
const kinds = ['comments', 'titles', 'texts'] as const;
/** Folders whose text keeps to 6 % indefinite words as a whole. */
const readableFolders = [
  '.',
  'build',
  'scripts',
  'src',
  'test/contract',
  'test/long',
  'test/system',
];
const coinedInNames =
  /^(told|seen|held|heir|doubts?|hints?|looks?|pace|vain|departed|bystanders?)$/i;

describe('wording', () => {
  it.each(Object.entries(folders))(
    '%s keeps to the limits of test/repo/wording.json',
    (name, wording) => {
      for (const kind of kinds) {
        const most = allowed[name]?.[kind] ?? { indefinite: 6, coined: 0, long: 0 };
        const over = Object.entries(limitsOf(wording[kind])).filter(
          ([key, count]) => count > most[key as keyof Limits],
        );
        expect(over.map(([key, count]) => `${kind}: ${count} ${key}`)).toEqual([]);
      }
    },
  );

  it.each(readableFolders.flatMap((top) => kinds.map((kind) => [kind, top] as const)))(
    '%s of %s have at most 6 percent indefinite words',
    (kind, top) => {
      expect(indefiniteShare(folders, top, kind)).toBeLessThanOrEqual(6);
    },
  );

  it('wording.ts exits with 1 and leaves the baseline unchanged when a limit would rise', () => {
    using directory = mkdtempDisposableSync(join(tmpdir(), 'multinic-wording-'));
    const file = join(directory.path, 'wording.json');
    const lower = { 'src/agent': { comments: { indefinite: 0.5, coined: 0, long: 0 } } };
    writeFileSync(file, JSON.stringify(lower));
    const run = spawnSync(process.execPath, [join(root, 'test/repo/wording.ts'), file], {
      encoding: 'utf8',
    });
    expect(run.stderr).toMatch(/may only fall.*\nsrc\/agent comments: indefinite [\d.]+ > 0\.5/);
    expect(run.status).toBe(1);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(lower);
  });

  it.each([
    ['a lower limit', { 'src/a': { titles: { indefinite: 4, coined: 0, long: 0 } } }, []],
    ['a new folder', { 'src/b': { titles: { indefinite: 9, coined: 1, long: 0 } } }, []],
    [
      'a coined word',
      { 'src/a': { titles: { indefinite: 5, coined: 1, long: 0 } } },
      ['src/a titles: coined 1 > 0'],
    ],
  ])('raisedLimits compares %s with the committed baseline', (_, next: Baseline, raised) => {
    const committed = { 'src/a': { titles: { indefinite: 5, coined: 0, long: 0 } } };
    expect(raisedLimits(committed, next)).toEqual(raised);
  });

  it.each([
    [
      'a.sh',
      '#!/bin/bash\n# Why.\nsay "stops the Deployment $name in ${ns:-it}"\nget \'{{.it}}\'',
      ['stops the Deployment … in …'],
    ],
    ['a.md', '# A page\n\nText with `it`.\n\n```sh\nthat\n```\n', ['# A page', 'Text with .']],
  ])('proseOf reads the texts of %s', (path, text, texts) => {
    const read = proseOf(path, text).texts.map((paragraph) => paragraph.trim());
    expect(read.filter((paragraph) => paragraph !== '')).toEqual(texts);
  });

  it('exported names contain no coined word', () => {
    const names = ['src', 'rig', 'test', 'build'].flatMap(filesBelow).flatMap((path) => {
      if (!/\.tsx?$/.test(path)) return [];
      const exported = textOf(path).matchAll(
        /^export (?:declare )?(?:abstract )?(?:async )?(?:const|function|class|interface|type) (\w+)/gm,
      );
      return [...exported].map(([, name = '']) => `${path}: ${name}`);
    });
    expect(names.filter((name) => wordsOf(name).some((word) => coinedInNames.test(word)))).toEqual(
      [],
    );
  });
});

/** Words of a name such as `src/a.ts: toExistingNode`. */
function wordsOf(name: string): readonly string[] {
  return name.split(': ')[1]?.split(/(?=[A-Z])/) ?? [];
}
