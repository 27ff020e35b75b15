// Counts, per folder, the words of comments and test titles that name nothing. Run it to write the baseline:
//   node test/repo/wording.ts
import { writeFileSync } from 'node:fs';
import { filesBelow, root, textOf } from './tree.ts';

const indefinite =
  /\b(what(?!-if)|whatever|that|which|whom|whose|it|its|they|them|those|one|ones|others?|another|somebody|nobody|anybody|whoever|there|of|so|else)\b/gi;
/** Coined words and idioms for which the glossary of CONTRIBUTING.md has a term. */
const coined =
  /\b(nobody|somebody|whoever|anew|in vain|way back|stands? (in|back)|lets? go|comes? to nothing|(is|are|was) (told|asked)|told of|unkind|of (which|whom)|as it shall be|is to be|no more than|heirs?|br(ings?|ought) about|looks? at|bystanders?|departed|hints?)\b/gi;
const mostWords = 25;

export interface Wording {
  readonly comments: Counts;
  readonly titles: Counts;
}

interface Counts {
  words: number;
  indefinite: number;
  coined: number;
  /** Sentences of more than 25 words. */
  long: number;
}

const none = (): Counts => ({ words: 0, indefinite: 0, coined: 0, long: 0 });

/** Returns the counts of each folder, such as `src/agent`. */
export function wordingByFolder(): Readonly<Record<string, Wording>> {
  const folders: Record<string, Wording> = {};
  for (const path of ['src', 'rig', 'test', 'build'].flatMap(filesBelow)) {
    if (!path.endsWith('.ts')) continue;
    const [top = '', folder = '', more] = path.split('/');
    const name = more === undefined ? top : `${top}/${folder}`;
    const { comments, titles } = (folders[name] ??= { comments: none(), titles: none() });
    const { ofComments, ofTitles } = proseOf(textOf(path));
    for (const text of ofComments) count(text, comments);
    for (const text of ofTitles) count(text, titles);
  }
  return folders;
}

/** Returns the comments and the titles of tests of a source file. */
export function proseOf(source: string) {
  const comments = source.matchAll(/\/\*\*?(.*?)\*\/|^[ \t]*\/\/([^\n]*)$/gms);
  const titles = source.matchAll(
    /(?<![.\w])(?:it|test|describe)(?:\.\w+)*(?:\([^)]*\))?\(\s*(['"`])((?:\\.|(?!\1).)*)\1/gs,
  );
  return {
    ofComments: [...comments].map(([, block, line]) =>
      (block ?? line ?? '').replace(/\n\s*\*/g, ' '),
    ),
    ofTitles: [...titles].map(([, , title = '']) => title),
  };
}

function count(text: string, into: Counts): void {
  into.words += text.match(/[A-Za-z’']+/g)?.length ?? 0;
  into.indefinite += text.match(indefinite)?.length ?? 0;
  into.coined += text.match(coined)?.length ?? 0;
  const sentences = text.split(/[.;:](?:\s|$)/);
  into.long += sentences.filter((one) => (one.match(/\w+/g)?.length ?? 0) > mostWords).length;
}

/** What the baseline allows for one kind of text in a folder. */
export interface Limits {
  /** Percent of all words. */
  readonly indefinite: number;
  readonly coined: number;
  readonly long: number;
}

/** Returns the limits that counts need now: percentages are rounded up to halves, so that a new sentence may have an "of". */
export function limitsOf({ words, indefinite: vague, coined: idioms, long }: Counts): Limits {
  const percent = words === 0 ? 0 : Math.ceil((200 * vague) / words) / 2;
  return { indefinite: percent, coined: idioms, long };
}

/** Returns the percentage of indefinite words in all folders below `top`. */
export function indefiniteShare(
  folders: Readonly<Record<string, Wording>>,
  top: string,
  kind: keyof Wording,
): number {
  const counts = Object.entries(folders)
    .filter(([name]) => name === top || name.startsWith(`${top}/`))
    .map(([, { [kind]: of }]) => of);
  const sum = (key: 'words' | 'indefinite') => counts.reduce((all, one) => all + one[key], 0);
  return (100 * sum('indefinite')) / sum('words');
}

if (import.meta.main) {
  const folders = wordingByFolder();
  const baseline = Object.entries(folders).map(([name, { comments, titles }]) => [
    name,
    { comments: limitsOf(comments), titles: limitsOf(titles) },
  ]);
  const text = JSON.stringify(Object.fromEntries(baseline), undefined, 2);
  writeFileSync(`${root}/test/repo/wording.json`, `${text}\n`);
  for (const kind of ['comments', 'titles'] as const) {
    console.log(
      `src: ${indefiniteShare(folders, 'src', kind).toFixed(1)} % of ${kind} are indefinite`,
    );
  }
}
