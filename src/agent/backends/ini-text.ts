/** `key=value` line in a sectioned file, in file order. */
export interface IniLine {
  readonly section: string;
  readonly key: string;
  readonly value: string;
}

/**
 * Parses a sectioned file as used by systemd and GLib: `[section]`, `key=value`, comments. A repeated key yields two
 * lines. Undefined if a line is malformed: readers then ignore the whole file.
 */
export function readIni(text: string): IniLine[] | undefined {
  const lines: IniLine[] = [];
  let section: string | undefined;
  for (const line of text.split(/\r?\n/).map((each) => each.trim())) {
    if (line === '' || /^[#;]/.test(line)) continue;
    const [, header] = /^\[([^[\]]+)\]$/.exec(line) ?? [];
    const [, key, value] = /^([^=]+?)\s*=\s*(.*)$/.exec(line) ?? [];
    if (header !== undefined) section = header;
    else if (section === undefined || key === undefined || value === undefined) return undefined;
    else lines.push({ section, key, value });
  }
  return lines;
}

/** Section in a file with repeatable sections and keys. */
export interface IniSection {
  readonly name: string;
  /** Values per key, in file order. */
  readonly values: Readonly<Record<string, readonly string[]>>;
}

/** Returns the file's sections in order; throws if a line belongs to no section. */
export function iniSections(text: string): IniSection[] {
  const blocks = text.split(/^(?=\[)/m).filter((block) => block.trim() !== '');
  return blocks.map((block) => {
    const lines = readIni(block) ?? [];
    const [name, ...more] = new Set(lines.map(({ section }) => section));
    if (name === undefined || more.length > 0) throw new Error('not an INI file with sections');
    const values: Record<string, string[]> = {};
    for (const { key, value } of lines) (values[key] ??= []).push(value);
    return { name, values };
  });
}

/** Returns a key's value; for a repeated key the last value, like GLib. */
export function valueIn(
  lines: readonly IniLine[],
  section: string,
  key: string,
): string | undefined {
  return lines.findLast((line) => line.section === section && line.key === key)?.value;
}

/** Returns all keys and values by section; throws for a repeated key. */
export function strictIni(text: string): Record<string, Record<string, string>> {
  const lines = readIni(text);
  if (!lines) throw new Error('not an INI file with sections');
  const sections: Record<string, Record<string, string>> = {};
  for (const { section, key, value } of lines) {
    const known = sections[section] ?? {};
    if (key in known) throw new Error(`${key} is set twice`);
    sections[section] = { ...known, [key]: value };
  }
  return sections;
}
