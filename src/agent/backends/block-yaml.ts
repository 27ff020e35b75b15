/**
 * Reads the block style that our own files are written in: mappings and lists by indentation, one scalar per line, no
 * anchors, no multi-line values. Throws on anything else. A full YAML parser takes longer to read ten files back than the
 * kernel takes to configure ten NICs; a property test holds that both read the same.
 */
export function readBlockYaml(text: string): unknown {
  const lines = text.split('\n').filter((line) => line !== '');
  const reader = { lines, at: 0 };
  const value = readNode(reader, 0);
  if (reader.at < lines.length) throw new Error(`unexpected line: ${lines[reader.at]}`);
  return value;
}

interface Reader {
  readonly lines: string[];
  at: number;
}

function readNode(reader: Reader, indent: number): unknown {
  const isList = reader.lines[reader.at]?.startsWith('- ', indent);
  return isList ? readList(reader, indent) : readMapping(reader, indent);
}

function readList(reader: Reader, indent: number): unknown[] {
  const items: unknown[] = [];
  for (let line = lineAt(reader, indent); line?.startsWith('- '); line = lineAt(reader, indent)) {
    const item = line.slice(2);
    if (/^[\w-]+:/.test(item)) {
      // The first key of a mapping stands behind the dash, as if the dash were indentation.
      reader.lines[reader.at] = `${' '.repeat(indent + 2)}${item}`;
      items.push(readMapping(reader, indent + 2));
    } else {
      items.push(readScalar(item));
      reader.at += 1;
    }
  }
  return items;
}

function readMapping(reader: Reader, indent: number): Record<string, unknown> {
  const entries: [string, unknown][] = [];
  for (let line = lineAt(reader, indent); line !== undefined; line = lineAt(reader, indent)) {
    const [, key, value] = /^([\w-]+):(?: (.+))?$/.exec(line) ?? [];
    if (key === undefined) break;
    reader.at += 1;
    entries.push([
      key,
      value === undefined ? readNode(reader, deeper(reader, indent)) : readScalar(value),
    ]);
  }
  if (entries.length === 0)
    throw new Error(`not a mapping: ${reader.lines[reader.at] ?? 'the end'}`);
  return Object.fromEntries(entries);
}

/** The present line without its indentation, if it has just this one. */
function lineAt({ lines, at }: Reader, indent: number): string | undefined {
  const line = lines[at];
  return line !== undefined && indentOf(line) === indent ? line.slice(indent) : undefined;
}

function deeper({ lines, at }: Reader, indent: number): number {
  const found = indentOf(lines[at] ?? '');
  if (found <= indent) throw new Error(`nothing below: ${lines[at - 1]}`);
  return found;
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

function readScalar(text: string): unknown {
  if (/^(?:-?\d+|true|false|\[\]|"[^"\\]*")$/.test(text)) return JSON.parse(text);
  if (/^[A-Za-z][\w.-]*$/.test(text)) return text;
  throw new Error(`not a scalar: ${text}`);
}
