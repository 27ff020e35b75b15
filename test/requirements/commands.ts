import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const seeds = ['000', '001', '002', '003'] as const;
export type Seed = (typeof seeds)[number];

/** A command of a document as a reader copies it, with all of its lines. */
export interface Command {
  readonly text: string;
  /** Line of the document on which it begins, from 1. */
  readonly line: number;
}

const ours = /^(kubectl|curl|helm|make|(\.\/)?(scripts\/)?[\w-]+\.sh)(\s|$)/;

/** Every kubectl, curl, helm, make and script command of a document, of its blocks and of its prose, in their order. */
export function commandsOf(seed: Seed): Command[] {
  return commandsIn(readFileSync(join(import.meta.dirname, 'texts', `${seed}.txt`), 'utf8'));
}

export function commandsIn(document: string): Command[] {
  const commands: Command[] = [];
  const lines = document.split('\n');
  let inBlock = false;
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] ?? '';
    if (/^\s*```/.test(line)) inBlock = !inBlock;
    else if (!inBlock) commands.push(...inProse(line, i + 1));
    else if (ours.test(line)) {
      const text = statementAt(lines, i);
      commands.push({ text, line: i + 1 });
      i += text.split('\n').length - 1;
    }
  }
  return commands;
}

/** What stands between backquotes and has an argument: a program's name alone is none. */
function inProse(line: string, number: number): Command[] {
  return [...line.matchAll(/`([^`]+)`/g)]
    .map(([, text = '']) => text)
    .filter((text) => ours.test(text) && (text.includes(' ') || text.endsWith('.sh')))
    .map((text) => ({ text, line: number }));
}

/** All lines of the statement that begins there: those behind a backslash, and those of a here-document. */
function statementAt(lines: readonly string[], start: number): string {
  let end = start;
  while (lines[end]?.endsWith('\\')) end++;
  const delimiter = /<<-?\s*['"]?(\w+)/.exec(lines[end] ?? '')?.[1];
  if (delimiter !== undefined) {
    const last = lines.indexOf(delimiter, end);
    if (last === -1) throw new Error(`the here-document of line ${start + 1} does not end`);
    end = last;
  }
  return lines
    .slice(start, end + 1)
    .map((line) => line.trimEnd())
    .join('\n');
}

/** A command on one line, as it is called in lists: without the text of its here-document. */
export function nameOf({ text }: Command): string {
  const [first = ''] = text.replace(/\s*\\\n\s*/g, ' ').split('\n');
  return first;
}
