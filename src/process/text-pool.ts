/** Returns the known equal text, otherwise the given text. */
type TextPool = (text: string) => string;

/** Creates a pool without a limit, for the texts in one answer: parsed JSON has its own string for each value. */
export function textPool(): TextPool {
  const texts = new Map<string, string>();
  return (text) => {
    const known = texts.get(text);
    if (known === undefined) texts.set(text, text);
    return known ?? text;
  };
}

/** Replaces all texts in a parsed value with equal texts from the pool, in place. Returns the value. */
export function shareTexts<T extends object>(parsed: T, share: TextPool): T {
  const fields = parsed as { [key: string]: unknown };
  for (const key of Object.keys(fields)) {
    const value = fields[key];
    if (typeof value === 'string') fields[key] = share(value);
    else if (typeof value === 'object' && value !== null) shareTexts(value, share);
  }
  return parsed;
}
