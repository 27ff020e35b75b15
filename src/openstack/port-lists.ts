import { mapBounded } from '../process/bounded.ts';
import { isRequestError, RequestError } from '../requests/request-error.ts';
import { compactPorts } from './compact-port.ts';
import { type Listing, readPages } from './requests/pages.ts';
import { ReadMemory } from './requests/read-memory.ts';
import type { Query, ServiceClient } from './requests/service-client.ts';
import { flawedPort, type Port, portFields, portSchema } from './resources.ts';

/** Lists of ports. */
export interface PortLists {
  /** Returns all ports that match the filter, from all pages. */
  ports(filter: Query, signal: AbortSignal): Promise<readonly Port[]>;
  /** Returns these servers' ports, read in batches, plus flawed ports without a device id. */
  portsOf(serverIds: readonly string[], signal: AbortSignal): Promise<readonly Port[]>;
}

// Neutron accepts a request line with 8,192 bytes (170 ids); proxies may accept less.
const largestBatch = 100;
const batchesAtOnce = 4;
/** Largest list without page memory: short lists vary between calls and parse quickly. */
const memoryThreshold = 20;
/** Query for the fields of a port. */
export const portFieldsQuery: Query = portFields.map((field) => ['fields', field] as const);
// Neutron answers 404 PortNotFound (or Subnet…) when the marker was deleted.
export const markerGone = 404;

/** Creates lists of ports; the base URL in `client` has no version. */
export function createPortLists(client: ServiceClient): PortLists {
  // Keeps the smaller size after a 414, instead of repeating the 414 at each sync.
  let batchSize = largestBatch;
  const pages = new ReadMemory<Port>();
  /** True after an answer proved that every `device_id` in a list reaches Neutron. */
  let hasAllServers = false;

  async function ports(
    filter: Query,
    signal: AbortSignal,
    more: Pick<Listing<Port>, 'placeholder' | 'memory'> = {},
  ): Promise<readonly Port[]> {
    const listing: Listing<Port> = {
      ...more,
      path: '/v2.0/ports',
      query: [...filter, ...portFieldsQuery],
      key: 'ports',
      item: portSchema,
      idOf: (port) => port.id,
      markerGone,
      tidy: (listed) => listed.map(compactPorts()),
    };
    return [...(await readPages(client, listing, signal)).values()];
  }

  async function portsAt(ids: readonly string[], signal: AbortSignal): Promise<readonly Port[]> {
    const memory = ids.length > memoryThreshold ? { pages, name: ids.join(' '), ids } : undefined;
    const filter = ids.map((id) => ['device_id', id] as const);
    return ports(filter, signal, { placeholder: flawedPort, memory });
  }

  /**
   * Throws if a proxy forwards only the first or last `device_id`: ports are then missing from the list. When only
   * the first or last server has ports, a second read swaps both positions.
   */
  async function checkReach(
    ids: readonly string[],
    listed: readonly Port[],
    signal: AbortSignal,
  ): Promise<void> {
    if (hasAllServers || ids.length < 2) return;
    const [first = '', last = ''] = [ids[0], ids.at(-1)];
    const requested = new Set(ids);
    const holders = new Set(listed.flatMap(({ deviceId: id }) => (requested.has(id) ? [id] : [])));
    const [holder] = holders;
    if (holder === undefined) return;
    if (holders.size === 1 && (holder === first || holder === last)) {
      // Swapped: the former first id is now last.
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
      // An empty device_id would list every unattached port.
      const wanted = new Set(serverIds.filter((id) => id !== '').map((id) => id.toLowerCase()));
      const batches = chunks([...wanted], batchSize);
      const lists = await mapBounded(batches, batchesAtOnce, batch, signal);
      const byId = new Map(lists.flat().map((port) => [port.id, port]));
      const isWanted = ({ deviceId, flaw }: Port) => wanted.has(deviceId) || (flaw && !deviceId);
      return [...byId.values()].filter(isWanted);
    },
  };
}

function onlyOneServer(): RequestError {
  const message =
    'GET /v2.0/ports: the answer has the ports of only one of several device_id; configure the proxy in front of Neutron to pass on repeated query parameters';
  return new RequestError(message, { service: 'neutron', kind: 'badAnswer' });
}

function chunks<T>(items: readonly T[], size: number): T[][] {
  const result: T[][] = [];
  for (let start = 0; start < items.length; start += size) {
    result.push(items.slice(start, start + size));
  }
  return result;
}
