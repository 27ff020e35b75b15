import { words } from '../../api/texts/titles.ts';

/** Colours of status words. The word itself carries the meaning. */
const codes: ReadonlyMap<string, number> = new Map(
  (
    [
      ['ok', 32],
      ['warn', 33],
      ['fail', 31],
      ['skip', 90],
    ] as const
  ).flatMap(([key, code]) => Object.values(words[key]).map((word) => [word, code] as const)),
);

const statusWord = new RegExp(`(?<=^| {2})(${[...codes.keys()].join('|')})(?= {2}|$)`, 'gmu');

export interface Terminal {
  readonly isTTY?: boolean;
}

/** True if the output may have colours: on a terminal, unless NO_COLOR is set (no-color.org). */
export function hasColours({ isTTY }: Terminal, env: NodeJS.ProcessEnv): boolean {
  return isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
}

/** Colours status words between double spaces or line limits. */
export function coloured(text: string): string {
  return text.replaceAll(statusWord, (word) => `\u001b[${codes.get(word)}m${word}\u001b[0m`);
}
