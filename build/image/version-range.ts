/** Whether a version is in a range as npm's advisories write them: `>=1.0.0 <1.2.3 || =2.0.0`. */
export function isInRange(version: string, range: string): boolean {
  return range.split('||').some((all) => {
    const bounds = all
      .replaceAll(/([<>=])\s+/g, '$1')
      .trim()
      .split(/[\s,]+/);
    return bounds.every((bound) => holds(version, bound));
  });
}

function holds(version: string, bound: string): boolean {
  const [, operator = '=', limit = ''] = /^(>=|<=|>|<|=)?(\S+)$/.exec(bound) ?? [];
  if (limit === '*') return true;
  const order = compare(version, limit);
  switch (operator) {
    case '>=':
      return order >= 0;
    case '<=':
      return order <= 0;
    case '>':
      return order > 0;
    case '<':
      return order < 0;
    default:
      return order === 0;
  }
}

/** Compares by SemVer; build metadata has no influence. */
function compare(one: string, other: string): number {
  const [a, b] = [keyOf(one), keyOf(other)];
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Returns a text with the version's sort order. */
function keyOf(version: string): string {
  const [, core, early] = /^v?(\d+\.\d+\.\d+)(?:-([\w.-]+))?(?:\+\S*)?$/.exec(version) ?? [];
  if (!core) throw new Error(`"${version}" is no version`);
  // SemVer: a pre-release precedes the release, numbers precede words, and fewer fields precede more.
  const parts = early?.split('.').map((part) => (isNumber(part) ? padded(part) : `a${part}`));
  return `${core.split('.').map(padded).join('.')}${parts ? ` ${parts.join(' ')}` : '~'}`;
}

function isNumber(text: string): boolean {
  return /^\d+$/.test(text);
}

function padded(digits: string): string {
  return digits.padStart(16, '0');
}
