import { describe, expect, it } from 'vitest';
import { filesBelow, textOf } from './tree.ts';
import baseline from './wording.json' with { type: 'json' };
import {
  indefiniteShare,
  type Limits,
  limitsOf,
  type Wording,
  wordingByFolder,
} from './wording.ts';

const folders = wordingByFolder();
const allowed: Readonly<Record<string, Readonly<Record<keyof Wording, Limits>>>> = baseline;
const coinedInNames =
  /^(told|seen|held|heir|doubts?|hints?|looks?|pace|vain|departed|bystanders?)$/i;

describe('wording', () => {
  it.each(Object.entries(folders))(
    '%s keeps to the limits of test/repo/wording.json',
    (name, wording) => {
      for (const kind of ['comments', 'titles'] as const) {
        const most = allowed[name]?.[kind] ?? { indefinite: 6, coined: 0, long: 0 };
        const over = Object.entries(limitsOf(wording[kind])).filter(
          ([key, count]) => count > most[key as keyof Limits],
        );
        expect(over.map(([key, count]) => `${kind}: ${count} ${key}`)).toEqual([]);
      }
    },
  );

  it.each(['comments', 'titles'] as const)(
    'at most 6 %% of the words in %s of src are indefinite',
    (kind) => {
      expect(indefiniteShare(folders, 'src', kind)).toBeLessThanOrEqual(6);
    },
  );

  it('exported names contain no coined word', () => {
    const names = ['src', 'rig', 'test', 'build'].flatMap(filesBelow).flatMap((path) => {
      if (!path.endsWith('.ts')) return [];
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
