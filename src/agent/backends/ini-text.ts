/** One `key=value` of a file in sections, in the order of the file. */
export interface IniLine {
  readonly section: string;
  readonly key: string;
  readonly value: string;
}

/**
 * Lines of a file in sections, as systemd and GLib have them: `[section]`, `key=value`, comments. A key that is there twice
 * is two lines. Undefined when a line is none of these: then the one who reads the file takes nothing of it.
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

/** A section of a file in which sections and keys may be there more than once. */
export interface IniSection {
  readonly name: string;
  /** Values of each key, in the order of the file. */
  readonly values: Readonly<Record<string, readonly string[]>>;
}

/** The sections of such a file, in its order; throws when a line is no part of one. */
export function iniSections(text: string): IniSection[] {
  const blocks = text.split(/^(?=\[)/m).filter((block) => block.trim() !== '');
  return blocks.map((block) => {
    const lines = readIni(block) ?? [];
    const [name, ...more] = new Set(lines.map(({ section }) => section));
    if (name === undefined || more.length > 0) throw new Error('not a file in sections');
    const values: Record<string, string[]> = {};
    for (const { key, value } of lines) (values[key] ??= []).push(value);
    return { name, values };
  });
}

/** Value of a key; of one that is there twice the last, as GLib reads it. */
export function valueIn(
  lines: readonly IniLine[],
  section: string,
  key: string,
): string | undefined {
  return lines.findLast((line) => line.section === section && line.key === key)?.value;
}

/** Every key and value by section, for those who know them all; throws when one is there twice. */
export function strictIni(text: string): Record<string, Record<string, string>> {
  const lines = readIni(text);
  if (!lines) throw new Error('not a file in sections');
  const sections: Record<string, Record<string, string>> = {};
  for (const { section, key, value } of lines) {
    const known = sections[section] ?? {};
    if (key in known) throw new Error(`${key} is there twice`);
    sections[section] = { ...known, [key]: value };
  }
  return sections;
}
