/** Characters with two terminal cells: Hangul, CJK, full-width forms and emoji (Unicode East Asian Width W and F). */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
/** Combining marks and joiners take no cell. */
const zero = /\p{Mn}|\p{Me}|\p{Cf}/u;

/** Returns the number of terminal cells. */
export function displayWidth(text: string): number {
  let cells = 0;
  for (const character of text) {
    if (!zero.test(character)) cells += wide.test(character) ? 2 : 1;
  }
  return cells;
}

export function padEnd(text: string, cells: number): string {
  return text + ' '.repeat(Math.max(0, cells - displayWidth(text)));
}

/** Control characters, format characters such as bidirectional overrides, line and paragraph separators. */
const control = /\p{Cc}|\p{Cf}|\p{Zl}|\p{Zp}/gu;

/**
 * Escapes control characters: names come from OpenStack users, and a terminal obeys escape sequences in them. The result
 * has one line.
 */
export function printable(text: string): string {
  return text.replaceAll(control, escaped);
}

/** Returns lines without control characters; inside JSON the escapes stand for the same characters. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
