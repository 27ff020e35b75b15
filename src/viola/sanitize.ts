/**
 * Object name of a node: lower case, runs of characters outside [a-z0-9.-] become one dash, at most 253 characters.
 * The result is a DNS-1123 subdomain; a name that leaves nothing over (한글) is refused by the caller.
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

/** A label value, at most 63 characters, that starts and ends with a letter or a digit; undefined when none is left. */
export function labelValue(text: string): string | undefined {
  const value = text
    .trim()
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .slice(0, 63)
    .replaceAll(/^[^a-z0-9]+|[^a-z0-9]+$/g, '');
  return value === '' ? undefined : value;
}

function tidy(text: string, length: number): string {
  const ends = /^[-.]+|[-.]+$/g;
  return text.replaceAll(ends, '').slice(0, length).replaceAll(ends, '');
}
