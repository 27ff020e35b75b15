import type { ResourceType } from '../resources/resource-type.ts';

/** What a path under /api or /apis names, before anybody looked whether it exists. */
export interface ResourcePath {
  readonly apiVersion: string;
  readonly namespace: string | undefined;
  readonly plural: string;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

/** The verbs of authorization and of the audit log. */
export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete';

/** One request to a resource, understood. */
export interface ResourceRequest {
  readonly verb: Verb;
  readonly type: ResourceType;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  readonly query: URLSearchParams;
}

/** Splits `/api/v1/…` and `/apis/GROUP/VERSION/…`; undefined for any other path. */
export function resourcePath(pathname: string): ResourcePath | undefined {
  const [root = '', ...parts] = pathname.split('/').slice(1).map(decodeURIComponent);
  const depth = { api: 1, apis: 2 }[root];
  if (depth === undefined) return undefined;
  return placed(parts.slice(0, depth).join('/'), parts.slice(depth));
}

function placed(apiVersion: string, rest: readonly string[]): ResourcePath | undefined {
  // "namespaces/NAME/status" is the namespace's own subresource, "namespaces/NAME/pods" is not.
  const inNamespace = rest[0] === 'namespaces' && rest.length > 2 && !isSubresource(rest[2]);
  const [plural, name, subresource, ...extra] = inNamespace ? rest.slice(2) : rest;
  if (plural === undefined || extra.length > 0 || rest.includes('')) return undefined;
  return { apiVersion, namespace: inNamespace ? rest[1] : undefined, plural, name, subresource };
}

function isSubresource(part: string | undefined): boolean {
  return part === 'status' || part === 'finalize';
}

/** The verb of a method on a path; undefined when the method is not allowed there. */
export function verbOf(
  method: string,
  path: ResourcePath,
  query: URLSearchParams,
): Verb | undefined {
  if (path.name === undefined) return collectionVerb(method, query);
  const verbs: Readonly<Record<string, Verb>> = {
    GET: 'get',
    PUT: 'update',
    PATCH: 'patch',
    ...(path.subresource ? {} : { DELETE: 'delete' }),
  };
  return verbs[method];
}

function collectionVerb(method: string, query: URLSearchParams): Verb | undefined {
  if (method === 'POST') return 'create';
  if (method !== 'GET') return undefined;
  return ['true', '1'].includes(query.get('watch') ?? '') ? 'watch' : 'list';
}

/** The namespace by which a request is authorised: that of a Namespace is the Namespace itself. */
export function authorizedIn({ type, namespace, name, verb }: ResourceRequest): string | undefined {
  const isOne = !['create', 'list', 'watch'].includes(verb);
  return isOne && type.group === '' && type.plural === 'namespaces' ? name : namespace;
}
