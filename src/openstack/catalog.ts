import * as z from 'zod';
import { RequestError, type Service } from '../requests/request-error.ts';
import { urlText } from './endpoint.ts';

export interface Endpoint {
  readonly interface: string;
  readonly region: string;
  readonly url: string;
}

export interface CatalogEntry {
  /** `network`, `compute`, … */
  readonly type: string;
  readonly endpoints: readonly Endpoint[];
}

export type Catalog = readonly CatalogEntry[];

const text = z
  .string()
  .nullish()
  .transform((value) => value ?? '');

/** An entry or endpoint that cannot be read is left out: it costs its own service only, which is then missing. */
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
        // Keystone sends both, equal; very old catalogs have `region` only.
        region: endpoint.region_id || endpoint.region,
        url: endpoint.url,
      })),
    })),
);

export interface EndpointChoice {
  readonly service: Service;
  /** Catalog type of the service. */
  readonly type: 'network' | 'compute';
  readonly interface: string;
  /** Any region when missing. */
  readonly region?: string | undefined;
}

/**
 * The URLs of a service in the token's catalog, at least one; names are compared without case. A region or interface that
 * the catalog does not have is an error that names those it has: another region's ports would be somebody else's NICs.
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
      `no "${choice.type}" endpoint in region "${region}"; there are ${regions}`,
    );
  }

  const found = inRegion.filter((endpoint) => same(endpoint.interface, choice.interface));
  if (found.length === 0) {
    const interfaces = distinct(inRegion.map((endpoint) => endpoint.interface));
    const wanted = `no ${choice.interface} "${choice.type}" endpoint`;
    throw missing(choice, `${wanted}; there are ${interfaces}`);
  }
  return found.map(({ url }) => url);
}

type CatalogType = EndpointChoice['type'];

/**
 * Chooses the region of a cloud of which none was named: the only one in which the catalog has all these services, and the
 * same one from then on. Ports of one region are at no server of another, so that several are an error with their names.
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
    // A service that is missing altogether is another error.
    if (all.size === 0) return '';
    if (only === undefined || others.length > 0) {
      const advice =
        only === undefined
          ? 'none has both services; set openstackNeutronEndpoint or openstackNovaEndpoint'
          : 'choose one by openstackEndpointRegion';
      const reason = `the catalog has endpoints in the regions ${distinct([...all.values()])}; ${advice}`;
      throw new RequestError(reason, { service, kind: 'ambiguousRegion' });
    }
    chosen = only;
    return chosen;
  };
}

export interface EndpointRules {
  /** The region where none is named; any without it. */
  readonly regionOf?: (catalog: Catalog, service: Service) => string;
  /** Why this URL may not be called; undefined = it may. */
  readonly denied: (url: string) => string | undefined;
  /** Told when the catalog no longer names the endpoint that was used so far. */
  readonly onMoved: () => void;
}

/**
 * Chooses the endpoint of a service in the token's catalog: the first, and the same one from then on. Keystone lists them in
 * no order, and what was seen in one region proves nothing about another.
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
    // Nothing was seen at a place that may not be called: the catalog may name another one instead.
    used = url;
    if (urls.includes(used)) return used;
    onMoved();
    throw missing(
      choice,
      `the catalog no longer names "${used}"; everything is read anew from where it names now`,
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
