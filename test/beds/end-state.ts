import * as z from 'zod';
import { inventoryRecords } from '../../src/api/inventory-http.ts';
import type { MultiNicNodeConfig } from '../../src/api/multinicnodeconfig.ts';
import type { OpenstackConfigStatus } from '../../src/api/openstackconfig.ts';

/** Where a suite looks: its clusters, inventory and host may be real or stand-ins. */
export interface Places {
  /** Status of the OpenstackConfig; undefined when there is none. */
  readonly openstackConfig: () => Promise<OpenstackConfigStatus | undefined>;
  readonly nodeConfig: () => Promise<
    Pick<MultiNicNodeConfig, 'metadata' | 'spec' | 'status'> | undefined
  >;
  /** Answer of the inventory about the node. */
  readonly inventory: () => Promise<unknown>;
  /** Links, addresses, routes, rules and files, without what differs from moment to moment. */
  readonly host: () => Promise<unknown>;
}

/**
 * What everybody knows when all is done, without times, counters and names of Jobs: two runs that come to the same end
 * have equal ones.
 */
export async function endState(places: Places) {
  const [config, node, records, host] = await Promise.all([
    places.openstackConfig(),
    places.nodeConfig(),
    places.inventory(),
    places.host(),
  ]);
  return {
    openstackConfig: config && {
      conditions: conditionsOf(config),
      summary: config.summary,
      lastError: config.lastError,
    },
    nodeConfig: node && {
      finalizers: node.metadata.finalizers,
      spec: node.spec,
      state: node.status?.state,
      conditions: conditionsOf(node.status ?? {}),
      interfaces: node.status?.interfaceStatuses?.map(({ name, id, portId, status, reason }) => ({
        name,
        id,
        portId,
        status,
        reason,
      })),
      known: node.status?.knownInterfaces,
    },
    inventory: inventoryRecords.parse(records).map(({ providerId, nodeName, config: known }) => ({
      providerId,
      nodeName,
      interfaces: known.interfaces,
    })),
    host,
  };
}

export type EndState = Awaited<ReturnType<typeof endState>>;

const anyConditions = z.object({
  conditions: z
    .array(z.object({ type: z.string(), status: z.string(), reason: z.string().optional() }))
    .default([]),
});

/**
 * What is not as it should be has a reason; Synced and NoChange are two words for the same end, and a node that was looked at
 * and is as it was made is one that nobody had a reason to look at.
 */
function conditionsOf(status: object): string[] {
  const { conditions } = anyConditions.parse(status);
  const told = conditions.filter(({ type, status: is }) => type !== 'Drifted' || is !== 'False');
  const words = told.map(({ type, status: is, reason = '' }) =>
    type === 'Ready' && is === 'True' ? 'Ready=True' : `${type}=${is} ${reason}`,
  );
  return words.toSorted();
}
