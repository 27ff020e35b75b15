import { describe, expect, it } from 'vitest';
import { filesBelow, textOf } from './tree.ts';
import baseline from './wording.json' with { type: 'json' };
import { indefiniteShare, type Wording, wordingByFolder } from './wording.ts';

type Counts = Omit<Wording['comments'], 'words'>;

const folders = wordingByFolder();
const allowed: Readonly<Record<string, Readonly<Record<keyof Wording, Counts>>>> = baseline;
const coinedInNames =
  /^(told|seen|held|heir|doubts?|hints?|looks?|pace|vain|departed|bystanders?)$/i;

describe('wording', () => {
  it.each(Object.entries(folders))(
    '%s has no more indefinite, coined or long texts than test/repo/wording.json',
    (name, wording) => {
      for (const kind of ['comments', 'titles'] as const) {
        const { words: _, ...counts } = wording[kind];
        const most = allowed[name]?.[kind] ?? { indefinite: 0, coined: 0, long: 0 };
        const over = Object.entries(counts).filter(
          ([key, count]) => count > most[key as keyof Counts],
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
