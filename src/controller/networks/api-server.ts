import { isIP } from 'node:net';
import * as z from 'zod';
import { plainForm } from '../../api/address.ts';
import { type ApiServer, apiServer } from '../../api/job.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { services } from '../../kube/core-resources.ts';
import { isNotFound } from '../../kube/errors.ts';
import type { KubeObject } from '../../kube/object.ts';
import { defineResource } from '../../kube/resource.ts';
import type { Guarded } from './guarded-reads.ts';

/** Name for the API server's own Service, EndpointSlice and Endpoints. */
export const apiServerRef = { namespace: 'default', name: 'kubernetes' } as const;

type Endpoint = ApiServer['endpoints'][number];

const port = z.object({ port: z.int().optional() });
const endpointSlice = z.object({
  endpoints: z
    .array(
      z.object({
        addresses: z.array(z.string()),
        conditions: z.object({ ready: z.boolean().nullish() }).nullish(),
      }),
    )
    .nullish(),
  ports: z.array(port).nullish(),
});
const endpointsObject = z.object({
  subsets: z
    .array(
      z.object({
        addresses: z.array(z.object({ ip: z.string() })).nullish(),
        ports: z.array(port).nullish(),
      }),
    )
    .nullish(),
});

/** An object whose fields the schema reads. */
type Untyped = KubeObject & Readonly<Record<string, unknown>>;

const endpointSlices = defineResource<Untyped>({
  group: 'discovery.k8s.io',
  version: 'v1',
  plural: 'endpointslices',
  kind: 'EndpointSlice',
  namespaced: true,
});
const endpoints = defineResource<Untyped>({
  group: '',
  version: 'v1',
  plural: 'endpoints',
  kind: 'Endpoints',
  namespaced: true,
});

/** Object with addresses for the API server. */
export interface AddressSource extends Guarded {
  /** Returns undefined if the cluster has no such object. */
  read(signal: AbortSignal): Promise<readonly Endpoint[] | undefined>;
}

const { namespace, name } = apiServerRef;
const lack = 'addresses of the API server are not readable there';
const rightTo = (resource: string) => `get ${resource} "${name}" in ${namespace}`;

/** Returns the source for the Service address. */
export function serviceSource(client: Pick<KubeClient, 'find'>): AddressSource {
  return {
    name: `Service ${namespace}/${name}`,
    right: rightTo('services'),
    lack,
    async read(signal) {
      const found = await client.find(services, apiServerRef, { signal });
      const { clusterIP = '', ports = [] } = found?.spec ?? {};
      return found && usable([clusterIP], ports);
    },
  };
}

/** Returns the sources for the endpoints; Kubernetes before 1.21 has no EndpointSlice v1. */
export function endpointSources(client: Pick<KubeClient, 'find'>): readonly AddressSource[] {
  const find = async (resource: typeof endpoints, signal: AbortSignal) => {
    try {
      return await client.find(resource, apiServerRef, { signal });
    } catch (error) {
      // The API server does not serve the kind.
      if (isNotFound(error)) return undefined;
      throw error;
    }
  };
  return [
    {
      name: `EndpointSlice ${namespace}/${name}`,
      right: rightTo('endpointslices.discovery.k8s.io'),
      lack,
      async read(signal) {
        const found = endpointSlice.safeParse(await find(endpointSlices, signal)).data;
        const ready = found?.endpoints?.filter(({ conditions }) => conditions?.ready !== false);
        return (
          ready &&
          usable(
            ready.flatMap(({ addresses }) => addresses),
            found?.ports ?? [],
          )
        );
      },
    },
    {
      name: `Endpoints ${namespace}/${name}`,
      right: rightTo('endpoints'),
      lack,
      async read(signal) {
        const found = endpointsObject.safeParse(await find(endpoints, signal)).data;
        return found?.subsets?.flatMap(({ addresses, ports }) =>
          usable(addresses?.map(({ ip }) => ip) ?? [], ports ?? []),
        );
      },
    },
  ];
}

/** Returns each valid address with the first port. */
function usable(
  addresses: readonly string[],
  [first]: readonly { readonly port?: number | undefined }[],
): readonly Endpoint[] {
  return addresses
    .filter((address) => isIP(address) !== 0)
    .map((address) => ({ address: plainForm(address), port: first?.port }))
    .flatMap((each) => endpoint.safeParse(each).data ?? []);
}

const endpoint = apiServer.shape.endpoints.element;
