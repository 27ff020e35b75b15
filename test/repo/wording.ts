// Counts, per folder, indefinite words, coined words and long sentences of comments, test titles, messages of scripts and guides.
// Run it to lower the limits in the baseline; it refuses to raise a limit:
//   node test/repo/wording.ts
import { readFileSync, writeFileSync } from 'node:fs';
import { type Prose, proseOf } from './prose.ts';
import { filesBelow, root, textOf } from './tree.ts';

const indefinite =
  /\b(what(?!-if)|whatever|that|which|whom|whose|it|its|they|them|those|one|ones|others?|another|somebody|nobody|anybody|whoever|there|of|so|else)\b/gi;
/** Coined words and idioms for which the glossary of CONTRIBUTING.md has a term. */
const coined =
  /\b(nobody|somebody|whoever|anew|in vain|way back|stands? (in|back)|lets? go|comes? to nothing|(is|are|was) (told|asked)|told of|unkind|of (which|whom)|as it shall be|is to be|no more than|heirs?|br(ings?|ought) about|looks? at|bystanders?|departed|hints?)\b/gi;
const mostWords = 25;

export type Wording = Readonly<Record<keyof Prose, Counts>>;

interface Counts {
  words: number;
  indefinite: number;
  coined: number;
  /** Sentences of more than 25 words. */
  long: number;
}

const none = (): Counts => ({ words: 0, indefinite: 0, coined: 0, long: 0 });

/** Returns the counts of each folder, such as `src/agent`; scripts at the top of the tree are in folder `.`. */
export function wordingByFolder(): Readonly<Record<string, Wording>> {
  const folders: Record<string, Wording> = {};
  for (const path of countedFiles()) {
    const into = (folders[folderOf(path)] ??= { comments: none(), titles: none(), texts: none() });
    const prose = proseOf(path, textOf(path));
    for (const kind of ['comments', 'titles', 'texts'] as const) {
      for (const text of prose[kind]) count(text, into[kind]);
    }
  }
  return folders;
}

function countedFiles(): readonly string[] {
  const sources = ['src', 'rig', 'test', 'build', 'scripts'].flatMap(filesBelow);
  const templates = filesBelow('charts').filter((path) => path.endsWith('.tpl'));
  const guides = filesBelow('docs/guides').filter((path) => !path.endsWith('.ko.md'));
  return [
    ...sources.filter((path) => /\.(tsx?|sh|tpl)$/.test(path)),
    ...templates,
    ...guides,
    'deploy-operator.sh',
    'cleanup-operator.sh',
  ];
}

function folderOf(path: string): string {
  const [top = '', folder = '', more] = path.split('/');
  if (folder === '') return '.';
  return more === undefined ? top : `${top}/${folder}`;
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

/** Limits per folder and kind; a kind without words in a folder is missing. */
export type Baseline = Readonly<Record<string, Readonly<Partial<Record<keyof Prose, Limits>>>>>;

/** Returns the limits that counts need now: percentages are rounded up to halves, so that a new sentence may have an "of". */
export function limitsOf({ words, indefinite: vague, coined: idioms, long }: Counts): Limits {
  const percent = words === 0 ? 0 : Math.ceil((200 * vague) / words) / 2;
  return { indefinite: percent, coined: idioms, long };
}

/** Returns the baseline that the tree needs now. */
function baselineOf(folders: Readonly<Record<string, Wording>>): Baseline {
  return Object.fromEntries(
    Object.entries(folders).map(([folder, wording]) => [
      folder,
      Object.fromEntries(
        Object.entries(wording)
          .filter(([, { words }]) => words > 0)
          .map(([kind, counts]) => [kind, limitsOf(counts)]),
      ),
    ]),
  );
}

/** Returns the limits that `next` raises, such as "test/long comments: indefinite 14 > 13.5". New folders have no limit yet. */
export function raisedLimits(committed: Baseline, next: Baseline): readonly string[] {
  const raised: string[] = [];
  for (const [folder, kinds] of Object.entries(next)) {
    for (const [kind, limits] of Object.entries(kinds)) {
      const most = committed[folder]?.[kind as keyof Prose];
      if (most === undefined) continue;
      for (const key of ['indefinite', 'coined', 'long'] as const) {
        if (limits[key] > most[key])
          raised.push(`${folder} ${kind}: ${key} ${limits[key]} > ${most[key]}`);
      }
    }
  }
  return raised;
}

/** Returns the percentage of indefinite words in all folders below `top`; 0 for a kind without words. */
export function indefiniteShare(
  folders: Readonly<Record<string, Wording>>,
  top: string,
  kind: keyof Prose,
): number {
  const counts = Object.entries(folders)
    .filter(([name]) => name === top || name.startsWith(`${top}/`))
    .map(([, { [kind]: of }]) => of);
  const sum = (key: 'words' | 'indefinite') => counts.reduce((all, one) => all + one[key], 0);
  return (100 * sum('indefinite')) / Math.max(1, sum('words'));
}

if (import.meta.main) {
  const file = process.argv[2] ?? `${root}/test/repo/wording.json`;
  const committed = JSON.parse(readFileSync(file, 'utf8')) as Baseline;
  const next = baselineOf(wordingByFolder());
  const raised = raisedLimits(committed, next);
  if (raised.length > 0) {
    console.error(`The baseline may only fall; nothing was written.\n${raised.join('\n')}`);
    process.exit(1);
  }
  writeFileSync(file, `${JSON.stringify(next, undefined, 2)}\n`);
}
