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

/** Replaces all texts in parsed JSON with equal texts from the pool, in place. */
export function shareTexts(parsed: object, share: TextPool): void {
  const fields = parsed as Record<string, unknown>;
  for (const key of Object.keys(fields)) {
    const value = fields[key];
    if (typeof value === 'string') fields[key] = share(value);
    else if (typeof value === 'object' && value !== null) shareTexts(value, share);
  }
}
