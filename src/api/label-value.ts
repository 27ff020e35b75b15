/** Longest value of a Kubernetes label. */
const maxLength = 63;

/**
 * The text as a value of one of our labels, in the form the deployed Viola writes: lower case, other characters as `-`.
 * Unlike there the result is always a legal value, which begins and ends with a letter or digit.
 */
export function labelValue(text: string): string {
  const clean = text
    .trim()
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-');
  const value = clean
    .replace(/^[._-]+/, '')
    .slice(0, maxLength)
    .replace(/[._-]+$/, '');
  return value === '' ? 'unknown' : value;
}
