const [quote, backslash, open, close, newline] = ['"', '\\', '{', '}', '\n'].map((each) =>
  each.charCodeAt(0),
);

const megabyte = 1_000_000;

/**
 * Object length limit in megabytes (ASCII). `ip` writes a link and all its addresses as a single object: `kube-ipvs0`
 * has about 160 characters per Service address, so 16 MB allow 100,000 Services.
 */
const maxElementLength = 16;

/** Longer than any separator, so an error shows the unexpected text. */
const maxBetween = 80;

/**
 * Splits JSON arrays of objects, each on a separate line, into object texts. The text arrives in pieces, and only the
 * unfinished object is buffered: `ip` answers with tens of megabytes on a node with thousands of links.
 */
export class JsonLines {
  readonly #onElement: (text: string) => void;
  readonly #onEnd: () => void;
  /** Nesting depth at the next character: 0 outside objects. */
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** Beginning of the current object, from earlier pieces. */
  #element = '';
  /** Text between two objects, without white space. */
  #between = '';
  /** True if the array has an object. */
  #isFilled = false;

  /** `onElement` receives each object's text, `onEnd` is called at the end of each array. */
  constructor(onElement: (text: string) => void, onEnd: () => void) {
    this.#onElement = onElement;
    this.#onEnd = onEnd;
  }

  /** Throws a SyntaxError if a line is not an array of objects, a RangeError if an object is too long. */
  push(text: string): void {
    let start = 0;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === newline) this.#endLine();
      else if (this.#inString) this.#endString(code);
      else if (this.#depth === 0) {
        if (this.#begins(text.charAt(at))) start = at;
      } else if (this.#ends(code)) this.#endElement(text.slice(start, at + 1));
    }
    if (this.#depth > 0) this.#hold(text.slice(start));
  }

  #endString(code: number): void {
    if (this.#escaped) this.#escaped = false;
    else if (code === backslash) this.#escaped = true;
    else if (code === quote) this.#inString = false;
  }

  #endElement(rest: string): void {
    const element = this.#element + rest;
    this.#element = '';
    this.#isFilled = true;
    this.#onElement(element);
  }

  #hold(piece: string): void {
    this.#element += piece;
    if (this.#element.length > maxElementLength * megabyte) throw tooLong(this.#element);
  }

  /** True if an object begins with this character, found outside all objects. */
  #begins(character: string): boolean {
    if (character === '{') {
      this.#expectBetween(this.#isFilled ? ',' : '[');
      this.#depth = 1;
      return true;
    }
    if (character.trim() !== '') this.#between += character;
    if (this.#between.length > maxBetween) throw notAnArray(this.#between);
    return false;
  }

  /** True if the object ends with this character, found inside the object and outside strings. */
  #ends(code: number): boolean {
    if (code === quote) this.#inString = true;
    else if (code === open) this.#depth++;
    else if (code === close) this.#depth--;
    return this.#depth === 0;
  }

  /** Ignores an empty line. JSON escapes newlines inside strings. */
  #endLine(): void {
    if (this.#depth > 0) throw notAnArray(this.#element);
    if (this.#between === '' && !this.#isFilled) return;
    this.#expectBetween(this.#isFilled ? ']' : '[]');
    this.#isFilled = false;
    this.#onEnd();
  }

  #expectBetween(wanted: string): void {
    if (this.#between !== wanted) throw notAnArray(this.#between);
    this.#between = '';
  }
}

function notAnArray(text: string): SyntaxError {
  return new SyntaxError(`not a JSON array of objects: ${beginningOf(text)}`);
}

function tooLong(text: string): RangeError {
  return new RangeError(
    `an object of more than ${maxElementLength} MB in the output of ip: ${beginningOf(text)}`,
  );
}

function beginningOf(text: string): string {
  return JSON.stringify(text.slice(0, 80));
}
