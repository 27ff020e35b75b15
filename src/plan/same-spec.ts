import type { InterfaceSpec } from '../api/multinicnodeconfig.ts';

/** Whether two lists of entries say the same, whatever their order. */
export function sameInterfaces(a: readonly InterfaceSpec[], b: readonly InterfaceSpec[]): boolean {
  if (a.length !== b.length) return false;
  const rest = [...b];
  return a.every((entry) => {
    // They hardly ever differ in order: the first one is looked at first.
    const at = rest.findIndex((other) => same(entry, other));
    return at >= 0 && rest.splice(at, 1).length === 1;
  });
}

/** Equality of JSON values; an absent key equals an undefined one. */
function same(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (!isObject(a) || !isObject(b) || Array.isArray(a) !== Array.isArray(b)) return false;
  for (const key of Object.keys(a)) if (!same(a[key], b[key])) return false;
  return Object.keys(b).every((key) => b[key] === undefined || a[key] !== undefined);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
