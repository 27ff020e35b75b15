/**
 * Returns the object name for a node: lower case, runs of characters outside [a-z0-9.-] become one dash, at most 253
 * characters. The result is a DNS-1123 subdomain, or '' for a name without usable characters (한글), which the caller
 * refuses.
 */
export function objectName(nodeName: string): string {
  return tidy(
    nodeName
      .trim()
      .toLowerCase()
      .replaceAll(/[^a-z0-9.-]+/g, '-'),
    253,
  )
    .split('.')
    .map((label) => label.replaceAll(/^-+|-+$/g, ''))
    .filter((label) => label !== '')
    .join('.');
}

function tidy(text: string, length: number): string {
  const ends = /^[-.]+|[-.]+$/g;
  return text.replaceAll(ends, '').slice(0, length).replaceAll(ends, '');
}

/** Returns why a node name is refused: control characters break log lines and messages. Undefined: usable. */
export function controlCharacterIn(nodeName: string): string | undefined {
  if (!/\p{Cc}/u.test(nodeName)) return undefined;
  // JSON leaves DEL and C1 controls unescaped.
  const shown = JSON.stringify(nodeName).replaceAll(/\p{Cc}/gu, escaped);
  return `${shown} has a control character`;
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
