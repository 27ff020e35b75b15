import type { InterfaceSpec } from '../api/multinicnodeconfig.ts';

/** Whether two lists of entries say the same, whatever their order. */
export function sameInterfaces(a: readonly InterfaceSpec[], b: readonly InterfaceSpec[]): boolean {
  if (a.length !== b.length) return false;
  const rest = [...b];
  return a.every((entry) => {
    const at = rest.findIndex((other) => same(entry, other));
    return at >= 0 && rest.splice(at, 1).length === 1;
  });
}

/** Equality of JSON values; an absent key equals an undefined one. */
function same(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (!isObject(a) || !isObject(b) || Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].every((key) => same(a[key], b[key]));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
