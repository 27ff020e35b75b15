import type * as z from 'zod';
import { createPortLists, markerGone, type PortLists, portFieldsQuery } from './port-lists.ts';
import { readFound } from './requests/found.ts';
import { type Listing, readPages } from './requests/pages.ts';
import { type Query, resourcePath, type ServiceClient } from './requests/service-client.ts';
import {
  type Found,
  type Network,
  networkSchema,
  type Port,
  type PortRecord,
  portRecordSchema,
  portSchema,
  type Subnet,
  subnetSchema,
} from './resources.ts';

export interface Neutron extends PortLists {
  /** Returns the ports with this MAC; a MAC is unique only within a network. */
  portsWithMac(macAddress: string, signal: AbortSignal): Promise<readonly Port[]>;
  port(id: string, signal: AbortSignal): Promise<Found<Port>>;
  portRecord(id: string, signal: AbortSignal): Promise<Found<PortRecord>>;
  subnet(id: string, signal: AbortSignal): Promise<Found<Subnet>>;
  subnets(filter: Query, signal: AbortSignal): Promise<readonly Subnet[]>;
  network(id: string, signal: AbortSignal): Promise<Found<Network>>;
  networks(filter: Query, signal: AbortSignal): Promise<readonly Network[]>;
}

/** Creates Neutron reads; the base URL in `client` has no version. */
export function createNeutron(client: ServiceClient): Neutron {
  const lists = createPortLists(client);
  return {
    ...lists,
    async portsWithMac(macAddress, signal) {
      return lists.ports([['mac_address', macAddress.toLowerCase()]], signal);
    },
    async port(id, signal) {
      const path = resourcePath('/v2.0/ports', id);
      return readFound(
        client,
        { path, query: portFieldsQuery, key: 'port', schema: portSchema },
        signal,
      );
    },
    async portRecord(id, signal) {
      const path = resourcePath('/v2.0/ports', id);
      const query = [...portFieldsQuery, ['fields', 'admin_state_up'] as const];
      return readFound(client, { path, query, key: 'port', schema: portRecordSchema }, signal);
    },
    async subnet(id, signal) {
      const path = resourcePath('/v2.0/subnets', id);
      return readFound(client, { path, key: 'subnet', schema: subnetSchema }, signal);
    },
    async subnets(filter, signal) {
      return listOf(client, 'subnets', subnetSchema, filter, signal);
    },
    async network(id, signal) {
      const path = resourcePath('/v2.0/networks', id);
      return readFound(client, { path, key: 'network', schema: networkSchema }, signal);
    },
    async networks(filter, signal) {
      return listOf(client, 'networks', networkSchema, filter, signal);
    },
  };
}

async function listOf<T extends { readonly id: string }>(
  client: ServiceClient,
  collection: string,
  item: z.ZodType<T>,
  query: Query,
  signal: AbortSignal,
): Promise<readonly T[]> {
  const path = `/v2.0/${collection}`;
  const listing: Listing<T> = {
    path,
    query,
    key: collection,
    item,
    idOf: ({ id }) => id,
    markerGone,
  };
  return [...(await readPages(client, listing, signal)).values()];
}
