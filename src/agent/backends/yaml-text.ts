import { parse, YAMLParseError } from 'yaml';

/** Parses YAML; undefined if invalid. A separate module, because most hosts have no file needing the full parser. */
export function yamlValue(text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    // The parser throws a ReferenceError for an alias without an anchor, or for too many aliases.
    if (error instanceof YAMLParseError || error instanceof ReferenceError) return undefined;
    throw error;
  }
}
