import type * as z from 'zod';
import { mapBounded } from '../process/bounded.ts';
import { isRequestError, RequestError } from '../requests/request-error.ts';
import { readFound } from './requests/found.ts';
import { type Listing, readPages } from './requests/pages.ts';
import { ReadMemory } from './requests/read-memory.ts';
import { type Query, resourcePath, type ServiceClient } from './requests/service-client.ts';
import {
  type Found,
  flawedPort,
  type Network,
  networkSchema,
  type Port,
  portFields,
  portSchema,
  type Subnet,
  subnetSchema,
} from './resources.ts';

export interface Neutron {
  /** The ports that match the filter, every page of them. */
  ports(filter: Query, signal: AbortSignal): Promise<readonly Port[]>;
  /** The ports of these servers, in batches, and those with a flaw that do not name their server. */
  portsOf(serverIds: readonly string[], signal: AbortSignal): Promise<readonly Port[]>;
  /** The ports with this MAC; it is unique in a network only. */
  portsWithMac(macAddress: string, signal: AbortSignal): Promise<readonly Port[]>;
  port(id: string, signal: AbortSignal): Promise<Found<Port>>;
  subnet(id: string, signal: AbortSignal): Promise<Found<Subnet>>;
  subnets(filter: Query, signal: AbortSignal): Promise<readonly Subnet[]>;
  network(id: string, signal: AbortSignal): Promise<Found<Network>>;
  networks(filter: Query, signal: AbortSignal): Promise<readonly Network[]>;
}

// Neutron's own server takes a request line of 8,192 bytes (170 ids); proxies in front of it may take less.
const largestBatch = 100;
const batchesAtOnce = 4;
/** Lists of so few servers change from one to the next, and are parsed in no time. */
const few = 20;
const fields: Query = portFields.map((field) => ['fields', field] as const);
// Neutron answers 404 PortNotFound (or Subnet…) to the marker of something deleted.
const markerGone = 404;

/** Reads of Neutron; `client` knows its base without the version. */
export function createNeutron(client: ServiceClient): Neutron {
  // A 414 is met once, not once per sync.
  let batchSize = largestBatch;
  const pages = new ReadMemory<Port>();
  /** Whether an answer has shown that all `device_id` of a list reach Neutron. */
  let hasAllServers = false;

  async function ports(
    filter: Query,
    signal: AbortSignal,
    more: Pick<Listing<Port>, 'standIn' | 'memory'> = {},
  ): Promise<readonly Port[]> {
    const listing: Listing<Port> = {
      ...more,
      path: '/v2.0/ports',
      query: [...filter, ...fields],
      key: 'ports',
      item: portSchema,
      idOf: (port) => port.id,
      markerGone,
      tidy: sharing,
    };
    return [...(await readPages(client, listing, signal)).values()];
  }

  async function listOf<T extends { readonly id: string }>(
    key: string,
    item: z.ZodType<T>,
    query: Query,
    signal: AbortSignal,
  ): Promise<readonly T[]> {
    const path = `/v2.0/${key}`;
    const listing: Listing<T> = { path, query, key, item, idOf: ({ id }) => id, markerGone };
    return [...(await readPages(client, listing, signal)).values()];
  }

  async function portsAt(ids: readonly string[], signal: AbortSignal): Promise<readonly Port[]> {
    const memory = ids.length > few ? { pages, name: ids.join(' '), ids } : undefined;
    const filter = ids.map((id) => ['device_id', id] as const);
    return ports(filter, signal, { standIn: flawedPort, memory });
  }

  /**
   * Throws if a proxy passes on only the first or the last `device_id`: the list then lacks the ports of the other servers. A list with
   * ports of its first or last server only is read once more, with that server at the other end.
   */
  async function checkReach(
    ids: readonly string[],
    listed: readonly Port[],
    signal: AbortSignal,
  ): Promise<void> {
    if (hasAllServers || ids.length < 2) return;
    const [first = '', last = ''] = [ids[0], ids.at(-1)];
    const asked = new Set(ids);
    const holders = new Set(listed.flatMap(({ deviceId: id }) => (asked.has(id) ? [id] : [])));
    const [holder] = holders;
    if (holder === undefined) return;
    if (holders.size === 1 && (holder === first || holder === last)) {
      // Its place changes from first to last, or from last to first.
      const again = await portsAt([last, first], signal);
      if (!again.some(({ deviceId }) => deviceId === holder)) throw onlyOneServer();
    }
    hasAllServers = true;
  }

  async function batch(ids: readonly string[], signal: AbortSignal): Promise<readonly Port[]> {
    try {
      const listed = await portsAt(ids, signal);
      await checkReach(ids, listed, signal);
      return listed;
    } catch (error) {
      if (!isRequestError(error, 'tooLarge') || ids.length === 1) throw error;
      const half = Math.ceil(ids.length / 2);
      batchSize = Math.min(batchSize, half);
      return [
        ...(await batch(ids.slice(0, half), signal)),
        ...(await batch(ids.slice(half), signal)),
      ];
    }
  }

  return {
    ports: async (filter, signal) => ports(filter, signal),
    async portsOf(serverIds, signal) {
      // An empty device_id would list every port that is attached to nothing.
      const wanted = new Set(serverIds.filter((id) => id !== '').map((id) => id.toLowerCase()));
      const batches = chunks([...wanted], batchSize);
      const lists = await mapBounded(batches, batchesAtOnce, batch, signal);
      const byId = new Map(lists.flat().map((port) => [port.id, port]));
      const isMeant = ({ deviceId, flaw }: Port) => wanted.has(deviceId) || (flaw && !deviceId);
      return [...byId.values()].filter(isMeant);
    },
    async portsWithMac(macAddress, signal) {
      return ports([['mac_address', macAddress.toLowerCase()]], signal);
    },
    async port(id, signal) {
      const path = resourcePath('/v2.0/ports', id);
      return readFound(client, { path, query: fields, key: 'port', schema: portSchema }, signal);
    },
    async subnet(id, signal) {
      const path = resourcePath('/v2.0/subnets', id);
      return readFound(client, { path, key: 'subnet', schema: subnetSchema }, signal);
    },
    async subnets(filter, signal) {
      return listOf('subnets', subnetSchema, filter, signal);
    },
    async network(id, signal) {
      const path = resourcePath('/v2.0/networks', id);
      return readFound(client, { path, key: 'network', schema: networkSchema }, signal);
    },
    async networks(filter, signal) {
      return listOf('networks', networkSchema, filter, signal);
    },
  };
}

function onlyOneServer(): RequestError {
  const message =
    'GET /v2.0/ports: the answer has the ports of only one of several device_id; a proxy in front of Neutron drops query parameters that are repeated: let it pass them on';
  return new RequestError(message, { service: 'neutron', kind: 'badAnswer' });
}

/** Ids that ports have in common are kept once: they are half of what a port takes, and there may be 100,000. */
function sharing(ports: readonly Port[]): readonly Port[] {
  const texts = new Map<string, string>();
  const one = (text: string): string => {
    const known = texts.get(text);
    if (known === undefined) texts.set(text, text);
    return known ?? text;
  };
  return ports.map((port) => ({
    ...port,
    networkId: one(port.networkId),
    status: one(port.status),
    deviceId: one(port.deviceId),
    deviceOwner: one(port.deviceOwner),
    projectId: one(port.projectId),
    fixedIps: port.fixedIps.map(({ subnetId, ipAddress }) => ({
      subnetId: one(subnetId),
      ipAddress,
    })),
  }));
}

function chunks<T>(items: readonly T[], size: number): T[][] {
  const result: T[][] = [];
  for (let start = 0; start < items.length; start += size) {
    result.push(items.slice(start, start + size));
  }
  return result;
}
