import * as z from 'zod';
import { RequestError, type Service } from '../requests/request-error.ts';

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

export const catalogSchema = z
  .array(
    z.object({
      type: z.string(),
      endpoints: z
        .array(z.object({ interface: text, region: text, region_id: text, url: z.string() }))
        .default([]),
    }),
  )
  .transform(
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
 * The URL of a service in the token's catalog; names are compared without case. A region or interface that the catalog
 * does not have is an error that names those it has: another region's ports would be somebody else's NICs.
 */
export function endpointUrl(catalog: Catalog, choice: EndpointChoice): string {
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

  const found = inRegion.find((endpoint) => same(endpoint.interface, choice.interface));
  if (found === undefined) {
    const interfaces = distinct(inRegion.map((endpoint) => endpoint.interface));
    const wanted = `no ${choice.interface} "${choice.type}" endpoint`;
    throw missing(choice, `${wanted}; there are ${interfaces}`);
  }
  return found.url;
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
