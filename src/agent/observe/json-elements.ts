const [quote, backslash, open, close] = ['"', '\\', '{', '}'].map((each) => each.charCodeAt(0));

/** The texts of the objects in a JSON array, one after the other; throws when the text is no array of objects. */
export function* elementsOf(json: string): Generator<string> {
  let depth = 0;
  let start = 0;
  let end = 0;
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === quote) at = endOfString(json, at);
    else if (code === open && depth++ === 0) {
      expectBetween(json.slice(end, at), end === 0 ? '[' : ',');
      start = at;
    } else if (code === close && --depth === 0) {
      end = at + 1;
      yield json.slice(start, end);
    }
  }
  expectBetween(json.slice(end), end === 0 ? '[]' : ']');
}

/** Where the string ends that begins here. */
function endOfString(json: string, from: number): number {
  let at = from + 1;
  while (at < json.length && json.charCodeAt(at) !== quote) {
    at += json.charCodeAt(at) === backslash ? 2 : 1;
  }
  return at;
}

function expectBetween(text: string, wanted: string): void {
  if (text.replaceAll(/\s/g, '') === wanted) return;
  throw new SyntaxError(`not an array of objects: ${JSON.stringify(text.slice(0, 80))}`);
}
