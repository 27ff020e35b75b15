import type { RequestSample } from '../../requests/caller.ts';

/** Kinds of things that we ask for; whatever else stands in a path is somebody's id or an installation's prefix. */
const collections: ReadonlySet<string> = new Set([
  'networks',
  'ports',
  'provider',
  'servers',
  'subnets',
  'tags',
  'tokens',
]);

/** What a request does, in OpenStack's words: `ports.list`, `servers.get`, `tokens.create`. The same few for any installation. */
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
