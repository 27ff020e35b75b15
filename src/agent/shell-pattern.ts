/** True if a shell pattern in fnmatch(3) syntax matches the whole text: `*`, `?`, sets, and backslash escapes. */
export function matchesPattern(text: string, pattern: string): boolean {
  const source = pattern.replaceAll(/\\.|\[[!^]|[*?.+^${}()|\\]/g, (sign) => {
    if (sign === '*') return '.*';
    if (sign === '?') return '.';
    return sign.startsWith('[') ? '[^' : `\\${sign.at(-1)}`;
  });
  try {
    return new RegExp(`^${source}$`).test(text);
  } catch (error) {
    // An unterminated set matches nothing.
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

/** True if the text is a pattern for several texts. */
export function isPattern(text: string): boolean {
  return /[*?[]/.test(text);
}
