/** Colours of status words. The word itself carries the meaning. */
const codes = {
  ok: 32,
  warn: 33,
  FAIL: 31,
  skip: 90,
  정상: 32,
  주의: 33,
  실패: 31,
  생략: 90,
} as const;

export interface Terminal {
  readonly isTTY?: boolean;
}

/** True if the output may have colours: on a terminal, unless NO_COLOR is set (no-color.org). */
export function hasColours({ isTTY }: Terminal, env: NodeJS.ProcessEnv): boolean {
  return isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
}

/** Colours status words between double spaces or line limits. */
export function coloured(text: string): string {
  return text.replace(
    /(?<=^| {2})(ok|warn|FAIL|skip|정상|주의|실패|생략)(?= {2}|$)/gmu,
    (word) => `\u001b[${codes[word as keyof typeof codes]}m${word}\u001b[0m`,
  );
}
