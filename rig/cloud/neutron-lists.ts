import { notServed, Refusal } from './refusal.ts';
import type { ServedRequest } from './route.ts';

/** What a list filters by: the values of a resource under one query key; of several values one has to match. */
type Filters<T> = Readonly<Record<string, (item: T) => string | readonly string[]>>;

export interface NeutronList<T> {
  readonly collection: string;
  readonly filters: Filters<T>;
  readonly idOf: (item: T) => string;
  readonly wire: (item: T) => Readonly<Record<string, unknown>>;
  readonly maxLimit: number | undefined;
  readonly notFound: (id: string) => Refusal;
}

const paging = ['limit', 'marker'];
// Attributes that Neutron knows and filters by, and that nothing here serves yet.
const knownToNeutron = [
  'id',
  'name',
  'network_id',
  'mac_address',
  'status',
  'device_id',
  'device_owner',
  'fixed_ips',
  'project_id',
  'tenant_id',
  'admin_state_up',
  'security_groups',
  'description',
  'revision_number',
  'tags',
  'sort_key',
  'sort_dir',
  'page_reverse',
];

/** A Neutron list: equal keys are OR, different keys are AND; `fields` selects, `limit` pages by id. */
export function neutronList<T>(
  list: NeutronList<T>,
  items: readonly T[],
  request: ServedRequest,
): Readonly<Record<string, unknown>> {
  const { query } = request;
  for (const key of query.keys()) refuseUnknown(list, key);
  const matching = items.filter((item) =>
    Object.entries(list.filters).every(([key, valueOf]) => {
      // As its database does, without case.
      const wanted = query.getAll(key).map((value) => value.toLowerCase());
      const values = [valueOf(item)].flat();
      return wanted.length === 0 || values.some((value) => wanted.includes(value.toLowerCase()));
    }),
  );
  const limit = limitOf(query, list.maxLimit);
  if (limit === undefined) {
    return { [list.collection]: matching.map((item) => selected(list.wire(item), query)) };
  }

  const sorted = matching.toSorted((a, b) => (list.idOf(a) < list.idOf(b) ? -1 : 1));
  const page = pageAfter(list, sorted, query.get('marker'), limit);
  const links = linksOf(list, page, request, limit);
  return {
    [list.collection]: page.map((item) => selected(list.wire(item), query)),
    ...(links.length === 0 ? {} : { [`${list.collection}_links`]: links }),
  };
}

/** The fields that were asked for; names that Neutron does not have are left out without an error. */
export function selected(
  wire: Readonly<Record<string, unknown>>,
  query: URLSearchParams,
): Readonly<Record<string, unknown>> {
  const fields = query.getAll('fields');
  if (fields.length === 0) return wire;
  return Object.fromEntries(Object.entries(wire).filter(([key]) => fields.includes(key)));
}

function refuseUnknown<T>(list: NeutronList<T>, key: string): void {
  if (key === 'fields' || paging.includes(key) || key in list.filters) return;
  if (knownToNeutron.includes(key)) throw notServed(`${list.collection}?${key}`);
  throw new Refusal(400, 'HTTPBadRequest', `['${key}'] is invalid attribute for filtering`);
}

function limitOf(query: URLSearchParams, maxLimit: number | undefined): number | undefined {
  const text = query.get('limit');
  const limit = text === null ? 0 : Number(text);
  if (!Number.isInteger(limit) || limit < 0) {
    const message = `Bad limit request: Limit must be an integer 0 or greater and not '${text}'.`;
    throw new Refusal(400, 'BadRequest', message);
  }
  if (maxLimit === undefined) return limit === 0 ? undefined : limit;
  return limit === 0 ? maxLimit : Math.min(limit, maxLimit);
}

function pageAfter<T>(
  list: NeutronList<T>,
  sorted: readonly T[],
  marker: string | null,
  limit: number,
): readonly T[] {
  if (marker === null) return sorted.slice(0, limit);
  const index = sorted.findIndex((item) => list.idOf(item) === marker);
  if (index === -1) throw list.notFound(marker);
  return sorted.slice(index + 1, index + 1 + limit);
}

// A full page has a `next`, the last one too: it leads to an empty page.
function linksOf<T>(
  list: NeutronList<T>,
  page: readonly T[],
  request: ServedRequest,
  limit: number,
): unknown[] {
  const first = page[0];
  const last = page.at(-1);
  const links = [];
  if (last !== undefined && page.length === limit) {
    links.push({ rel: 'next', href: hrefTo(request, limit, list.idOf(last)) });
  }
  if (first !== undefined) {
    const href = `${hrefTo(request, limit, list.idOf(first))}&page_reverse=True`;
    links.push({ rel: 'previous', href });
  }
  return links;
}

function hrefTo(request: ServedRequest, limit: number, marker: string): string {
  const url = new URL(request.target, request.origin);
  url.searchParams.delete('limit');
  url.searchParams.delete('marker');
  url.searchParams.append('limit', String(limit));
  url.searchParams.append('marker', marker);
  return url.href;
}
