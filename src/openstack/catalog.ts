import * as z from 'zod';
import { RequestError, type Service } from '../requests/request-error.ts';
import { urlText } from './endpoint.ts';

interface Endpoint {
  readonly interface: string;
  readonly region: string;
  readonly url: string;
}

interface CatalogEntry {
  /** `network`, `compute`, … */
  readonly type: string;
  readonly endpoints: readonly Endpoint[];
}

export type Catalog = readonly CatalogEntry[];

const text = z
  .string()
  .nullish()
  .transform((value) => value ?? '');

/** Skips unreadable items: a malformed catalog entry then makes only its own service unavailable. */
function readable<T>(item: z.ZodType<T>) {
  return z.array(z.unknown()).transform((items): T[] =>
    items.flatMap((one) => {
      const { data } = item.safeParse(one);
      return data === undefined ? [] : [data];
    }),
  );
}

const endpointSchema = z.object({
  interface: text,
  region: text,
  region_id: text,
  url: z.string(),
});

export const catalogSchema = readable(
  z.object({ type: z.string(), endpoints: readable(endpointSchema).catch([]) }),
).transform(
  (wire): Catalog =>
    wire.map((entry) => ({
      type: entry.type,
      endpoints: entry.endpoints.map((endpoint) => ({
        interface: endpoint.interface,
        // Keystone sends both keys with the same value; very old catalogs have only `region`.
        region: endpoint.region_id || endpoint.region,
        url: endpoint.url,
      })),
    })),
);

export interface EndpointChoice {
  readonly service: Service;
  /** Service type in the catalog. */
  readonly type: 'network' | 'compute';
  readonly interface: string;
  /** undefined: any region. */
  readonly region?: string | undefined;
}

/**
 * Returns the service's URLs in the token's catalog, at least one; name comparison ignores case. Throws for an
 * unknown region or interface and lists the existing names, because ports from another region would become wrong
 * NICs.
 */
function endpointUrls(catalog: Catalog, choice: EndpointChoice): string[] {
  const all = catalog
    .filter((entry) => same(entry.type, choice.type))
    .flatMap((entry) => entry.endpoints);
  if (all.length === 0) throw missing(choice, `the catalog has no "${choice.type}" service`);

  const { region } = choice;
  const inRegion = region ? all.filter((endpoint) => same(endpoint.region, region)) : all;
  if (inRegion.length === 0) {
    const regions = distinct(all.map((endpoint) => endpoint.region));
    throw missing(
      choice,
      `no "${choice.type}" endpoint in region "${region}"; regions of the catalog: ${regions}`,
    );
  }

  const found = inRegion.filter((endpoint) => same(endpoint.interface, choice.interface));
  if (found.length === 0) {
    const interfaces = distinct(inRegion.map((endpoint) => endpoint.interface));
    const wanted = `no ${choice.interface} "${choice.type}" endpoint`;
    throw missing(choice, `${wanted}; interfaces of the catalog: ${interfaces}`);
  }
  return found.map(({ url }) => url);
}

type CatalogType = EndpointChoice['type'];

/**
 * Chooses the region when none is configured: the only region whose endpoints cover all `types`. The first choice
 * stays fixed. Throws when several regions qualify, because a port and its server always share a region.
 */
export function createRegion(types: readonly CatalogType[], interfaceName: string) {
  let chosen: string | undefined;

  function regionsOf(type: CatalogType, catalog: Catalog): ReadonlyMap<string, string> {
    const endpoints = catalog.filter((entry) => same(entry.type, type)).flatMap((e) => e.endpoints);
    const usable = endpoints.filter((endpoint) => same(endpoint.interface, interfaceName));
    return new Map(usable.map(({ region }) => [region.toLowerCase(), region]));
  }

  return (catalog: Catalog, service: Service): string => {
    if (chosen !== undefined) return chosen;
    const sets = types.map((type) => regionsOf(type, catalog)).filter(({ size }) => size > 0);
    const all = new Map(sets.flatMap((set) => [...set]));
    const [only, ...others] = [...all.keys()].filter((name) => sets.every((set) => set.has(name)));
    // endpointUrls reports a service missing from the whole catalog.
    if (all.size === 0) return '';
    if (only === undefined || others.length > 0) {
      const advice =
        only === undefined
          ? 'no region has both services; set openstackNeutronEndpoint or openstackNovaEndpoint'
          : 'set openstackEndpointRegion to one of them';
      const reason = `the catalog has endpoints in the regions ${distinct([...all.values()])}; ${advice}`;
      throw new RequestError(reason, { service, kind: 'ambiguousRegion' });
    }
    chosen = only;
    return chosen;
  };
}

export interface EndpointRules {
  /** Default region when the endpoint choice has none; undefined: any region. */
  readonly regionOf?: (catalog: Catalog, service: Service) => string;
  /** Returns why the policy denies a URL; undefined: allowed. */
  readonly denied: (url: string) => string | undefined;
  /** Called when the catalog no longer lists the endpoint in use. */
  readonly onMoved: () => void;
}

/**
 * Chooses a service's first endpoint in the token's catalog and keeps this choice. Keystone lists endpoints in random
 * order, and data read from one region is no evidence about another region.
 */
export function createEndpoint(
  choice: EndpointChoice,
  { denied, onMoved, regionOf }: EndpointRules,
) {
  let used: string | undefined;

  function first(catalog: Catalog): string {
    const region = choice.region || regionOf?.(catalog, choice.service);
    return endpointUrls(catalog, { ...choice, region })[0] ?? '';
  }

  return (catalog: Catalog): string => {
    const url = used ?? first(catalog);
    const urls = endpointUrls(catalog, choice);
    const why = denied(url);
    if (why !== undefined) {
      const { service } = choice;
      throw new RequestError(`the catalog names ${urlText(url)}, which ${why}`, {
        service,
        kind: 'denied',
      });
    }
    // A denied endpoint was never read, so a later catalog may replace this URL.
    used = url;
    if (urls.includes(used)) return used;
    onMoved();
    throw missing(
      choice,
      `the catalog no longer has endpoint "${used}"; the next sync reads everything from the current endpoint`,
    );
  };
}

function missing(choice: EndpointChoice, reason: string): RequestError {
  return new RequestError(reason, { service: choice.service, kind: 'noEndpoint' });
}

function same(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

function distinct(values: readonly string[]): string {
  return [...new Set(values)]
    .toSorted()
    .map((value) => `"${value}"`)
    .join(', ');
}
