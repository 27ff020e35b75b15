import type { RequestSample } from '../../../requests/caller.ts';

/** Requested resource types; every other path segment is an id or an installation's prefix. */
const collections: ReadonlySet<string> = new Set([
  'networks',
  'ports',
  'provider',
  'servers',
  'subnets',
  'tags',
  'tokens',
]);

/**
 * Returns a request's operation in OpenStack's terms: `ports.list`, `servers.get`, `tokens.create`. Every installation
 * has the same few.
 */
export function operationOf({ method, url }: Pick<RequestSample, 'method' | 'url'>): string {
  const parts = url.pathname.split('/').filter((part) => part !== '');
  const at = parts.findLastIndex((part) => collections.has(part));
  const collection = parts[at];
  if (collection === undefined) return 'other';
  if (method === 'POST') return `${collection}.create`;
  const rest = parts.slice(at + 1);
  const isList = rest.length === 0 || rest[0] === 'detail';
  return `${collection}.${isList ? 'list' : 'get'}`;
}
