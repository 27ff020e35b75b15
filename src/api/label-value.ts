/** Maximum length of a Kubernetes label value. */
const maxLength = 63;

/**
 * Converts text into a label value in the legacy Viola's form: lower case, other characters as `-`. Unlike there, the
 * result is always legal and starts and ends with a letter or digit.
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
