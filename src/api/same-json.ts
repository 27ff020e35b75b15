/** True if both values have the same JSON, ignoring key order; an undefined field equals an absent field. */
export function isSameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b)) return false;
    return a.length === b.length && a.every((item, at) => isSameJson(item, b[at]));
  }
  if (!isFields(a) || !isFields(b)) return false;
  return hasFieldsOf(a, b) && hasNoFurtherFields(b, a);
}

/** Without a list of keys, because plans compare a million fields. */
function hasFieldsOf(a: Fields, b: Fields): boolean {
  for (const key in a) if (!isSameJson(a[key], valueOf(b, key))) return false;
  return true;
}

/** Compares no values again: each level would double the comparisons below. */
function hasNoFurtherFields(a: Fields, b: Fields): boolean {
  for (const key in a) if (a[key] !== undefined && !Object.hasOwn(b, key)) return false;
  return true;
}

type Fields = Readonly<Record<string, unknown>>;

function valueOf(fields: Fields, key: string): unknown {
  return Object.hasOwn(fields, key) ? fields[key] : undefined;
}

function isFields(value: unknown): value is Fields {
  return value !== null && typeof value === 'object';
}
