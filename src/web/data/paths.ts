import type { Fields } from '../place/place.ts';

/** Returns a path with encoded parts, and a query of the given fields. */
export function apiPath(parts: readonly string[], query: Fields = {}): string {
  const path = `/api/${parts.map(encodeURIComponent).join('/')}`;
  const text = new URLSearchParams(query).toString();
  return text === '' ? path : `${path}?${text}`;
}
