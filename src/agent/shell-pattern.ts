/** Whether a shell pattern of fnmatch(3) matches the whole text: `*`, `?`, sets, and backslashes that take those signs away. */
export function matchesPattern(text: string, pattern: string): boolean {
  const source = pattern.replaceAll(/\\.|\[[!^]|[*?.+^${}()|\\]/g, (sign) => {
    if (sign === '*') return '.*';
    if (sign === '?') return '.';
    return sign.startsWith('[') ? '[^' : `\\${sign.at(-1)}`;
  });
  try {
    return new RegExp(`^${source}$`).test(text);
  } catch (error) {
    // A set that does not end matches nothing.
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

/** Whether it matches more than one text. */
export function isPattern(text: string): boolean {
  return /[*?[]/.test(text);
}
