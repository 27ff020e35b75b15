/** Texts shared by many packed values, such as network ids: a packed value contains numbers instead. */
export class SharedTexts {
  readonly #numbers = new Map<string, number>();
  readonly #texts: string[] = [];

  numberOf(text: string): number {
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    const number = this.#texts.push(text) - 1;
    this.#numbers.set(text, number);
    return number;
  }

  /** Throws for a number never returned by numberOf. */
  textOf(number: number): string {
    const text = this.#texts[number];
    if (text === undefined) throw new Error(`no text has the number ${number}`);
    return text;
  }
}

/** Returns JSON that V8 stores with one byte per character: characters beyond Latin-1, which need two, are escaped. */
export function oneByteText(json: string): string {
  const text = json.replaceAll(/[^\u0020-\u00ff]/g, escaped);
  return Buffer.from(text, 'latin1').toString('latin1');
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
