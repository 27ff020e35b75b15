import { parse, YAMLParseError } from 'yaml';

/** The value of a YAML text; undefined when it is none. A module of its own: most hosts have no file that needs a parser. */
export function yamlValue(text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    // The parser's word for an alias without an anchor, or for too many of them, is a ReferenceError.
    if (error instanceof YAMLParseError || error instanceof ReferenceError) return undefined;
    throw error;
  }
}
