const [quote, backslash, open, close, newline] = ['"', '\\', '{', '}', '\n'].map((each) =>
  each.charCodeAt(0),
);

const megabyte = 1_000_000;

/**
 * Length of an object at which reading gives up, in megabytes of ASCII. `ip` writes a link and all its addresses as one object:
 * `kube-ipvs0` has an address of about 160 characters for each Service, so 16 MB are 100,000 Services.
 */
const maxElementLength = 16;

/** More than any separator has, so that an error shows what the text is instead. */
const maxBetween = 80;

/**
 * Splits JSON arrays of objects, each on a line of its own, into the texts of their objects. The text comes in pieces, and only
 * the object that has not ended is held: `ip` answers with tens of megabytes on a node with thousands of links.
 */
export class JsonLines {
  readonly #onElement: (text: string) => void;
  readonly #onEnd: () => void;
  /** Nesting of the character that comes next: 0 outside of an object. */
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** The object that has begun in an earlier piece. */
  #element = '';
  /** What is between two objects, without white space. */
  #between = '';
  /** Whether the array has an object. */
  #isFilled = false;

  /** `onElement` gets the text of each object, `onEnd` is called at the end of each array. */
  constructor(onElement: (text: string) => void, onEnd: () => void) {
    this.#onElement = onElement;
    this.#onEnd = onEnd;
  }

  /** Throws a SyntaxError when a line is no array of objects, a RangeError when an object is too long. */
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

  /** Whether an object begins with this character, which is outside of all. */
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

  /** Whether the object ends with this character, which is in it and in none of its strings. */
  #ends(code: number): boolean {
    if (code === quote) this.#inString = true;
    else if (code === open) this.#depth++;
    else if (code === close) this.#depth--;
    return this.#depth === 0;
  }

  /** An empty line is none. JSON escapes a newline that is in a string. */
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
