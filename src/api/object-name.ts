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
