import { textOf } from './tree.ts';

/** A fenced block of a page. */
export interface Block {
  readonly language: string;
  /** What stands behind the language: `example` marks what a reader changes before running it. */
  readonly note: string;
  readonly text: string;
  /** The heading of level two that it stands under; '' above the first one. */
  readonly section: string;
  /** Line of the page on which its text begins, from 1. */
  readonly line: number;
}

/** The guides that are there in English and in Korean. */
export const guides = [
  'docs/guides/install.md',
  'docs/guides/air-gap.md',
  'docs/guides/upgrade.md',
  'docs/guides/release.md',
  'docs/guides/uninstall.md',
  'docs/guides/migrate.md',
  'docs/guides/biz-config.md',
  'docs/guides/register-cluster.md',
  'docs/guides/access.md',
  'docs/guides/credentials.md',
  'docs/guides/inventory.md',
  'docs/guides/read-api.md',
  'docs/guides/notifications.md',
  'docs/guides/selection.md',
  'docs/guides/triggers.md',
  'docs/guides/production.md',
  'docs/guides/lifecycle.md',
  'docs/guides/rollout.md',
  'docs/guides/cost.md',
  'docs/guides/platforms.md',
  'docs/guides/new-nodes.md',
  'docs/guides/day-two.md',
] as const;

export function koreanOf(path: string): string {
  return path.replace(/\.md$/, '.ko.md');
}

/** All fenced blocks of a page in their order. */
export function blocksOf(page: string): Block[] {
  const blocks: Block[] = [];
  const lines = page.split('\n');
  let section = '';
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] ?? '';
    section = /^## (.+)/.exec(line)?.[1] ?? section;
    const opening = /^```(\w*) ?(.*)$/.exec(line);
    if (!opening) continue;
    const end = lines.indexOf('```', i + 1);
    if (end === -1) throw new Error(`the block of line ${i + 1} does not end`);
    const [, language = '', note = ''] = opening;
    blocks.push({ language, note, section, line: i + 2, text: textBetween(lines, i, end) });
    i = end;
  }
  return blocks;
}

function textBetween(lines: readonly string[], opening: number, closing: number): string {
  return lines
    .slice(opening + 1, closing)
    .map((line) => `${line}\n`)
    .join('');
}

/**
 * What a reader of a page runs, word by word and in this order, in the root of a checkout; with `section`, what stands
 * under that heading of level two. Sections that are ways to choose from (to keep NICs, to remove them) are run each for
 * itself. What `variablesOf` names has to be exported before.
 */
export function commandsOf(path: string, section?: string): Block[] {
  return blocksOf(textOf(path)).filter(
    (block) => isRun(block) && (section === undefined || block.section === section),
  );
}

export function isRun({ language, note }: Block): boolean {
  return language === 'sh' && note === '';
}

/** Blocks that a reader edits before running them. */
export function examplesOf(path: string): Block[] {
  return blocksOf(textOf(path)).filter(({ note }) => note === 'example');
}

/** What a page has its reader decide: the variables that its examples export. */
export function variablesOf(path: string): string[] {
  return [...new Set(examplesOf(path).flatMap(({ text }) => exportedIn(text)))];
}

function exportedIn(script: string): string[] {
  return [...script.matchAll(/\bexport (\w+)/g)].map(([, name = '']) => name);
}
