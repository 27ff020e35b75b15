import type { InterfaceSpec } from '../../../api/multinicnodeconfig.ts';
import type { UnreadableNode } from '../../../api/node-configs-http.ts';
import { objectName } from '../../../api/object-name.ts';
import type { NodeView } from '../../../api/read-http.ts';
import type { Observation, Port } from '../../../plan/observation.ts';
import type { NodePlan, PortVerdict } from '../../../plan/plan.ts';
import { nameOf } from '../../../plan/port-verdict.ts';
import type { Rounds } from '../../clusters/deliver/delivery-rounds.ts';
import type { Planned } from '../../flow/sync/evidence.ts';
import { addressesOf, nodeViewOf, type PlannedNic } from './node-view.ts';
import { optional } from './optional.ts';

interface SyncedNodes {
  readonly planned: Planned;
  readonly rounds: Rounds;
  readonly observed: { readonly unreadable: readonly UnreadableNode[] };
  /** OpenstackConfig as `namespace/name`. */
  readonly config: string;
  readonly providerId: string;
  /** End of the sync (RFC 3339). */
  readonly at: string;
}

/** Yields the delivered nodes, by name; a node without NICs only if ports are unused. */
export function* nodesOf({
  planned,
  rounds,
  observed,
  config,
  providerId,
  at,
}: SyncedNodes): Generator<NodeView> {
  const cloud = indexOf(planned.input.observation);
  const held = new Map(rounds.held.map((node) => [node.nodeName, node]));
  const written = new Map(rounds.delivery.accepted.map((node) => [node.nodeName, node.generation]));
  const unused = Map.groupBy(
    planned.plan.ports.filter(({ nic }) => nic === undefined),
    ({ serverId }) => serverId,
  );
  for (const node of rounds.nodes) {
    const { nodeName, instanceId, interfaces } = node;
    const existing = held.get(nodeName);
    const ports = unused.get(instanceId) ?? [];
    if (node.isForeign || !isShown(node, existing !== undefined, ports)) continue;
    yield nodeViewOf(
      {
        providerId,
        nodeName,
        instanceId,
        config,
        nics: interfaces.map((entry) => plannedNic(entry, cloud)),
        unusedPorts: ports.map((port) => unusedPort(port, cloud)),
      },
      {
        existing,
        unreadable: whyUnreadable(node, observed.unreadable),
        writtenGeneration: written.get(nodeName),
        isWrittenObserved: written.has(nodeName) ? planned.input.observes === true : undefined,
        isWrittenAdopting: written.has(nodeName) ? node.adopts === true : undefined,
        at,
      },
    );
  }
}

/** Returns why the node's object cannot be read; undefined: readable, or absent. */
export function whyUnreadable(
  { nodeName, instanceId }: Pick<NodeView, 'nodeName' | 'instanceId'>,
  unreadable: readonly UnreadableNode[],
): string | undefined {
  const found = unreadable.find(
    (one) => one.objectName === objectName(nodeName) || one.instanceId === instanceId,
  );
  return found?.message;
}

function isShown(
  { interfaces }: NodePlan,
  exists: boolean,
  ports: readonly PortVerdict[],
): boolean {
  return interfaces.length > 0 || exists || ports.some(({ address }) => address !== undefined);
}

interface CloudIndex {
  readonly ports: ReadonlyMap<string, Port>;
  readonly networkNames: ReadonlyMap<string, string | undefined>;
  readonly subnetNames: ReadonlyMap<string, string | undefined>;
}

const noCloud: CloudIndex = {
  ports: new Map(),
  networkNames: new Map(),
  subnetNames: new Map(),
};

function indexOf({ ports, networks, subnets }: Observation): CloudIndex {
  return {
    ports: new Map(ports.map((port) => [port.id, port])),
    networkNames: new Map(networks.map(({ id, name }) => [id, name])),
    subnetNames: new Map(subnets.map(({ id, name }) => [id, name])),
  };
}

/** Returns a planned or delivered NIC; without the cloud names and port status are unknown. */
export function plannedNic(entry: InterfaceSpec, cloud: CloudIndex = noCloud): PlannedNic {
  const { portId, macAddress, mtu, networkId, subnetId } = entry;
  const networkName = cloud.networkNames.get(networkId ?? '') || undefined;
  const subnetName = cloud.subnetNames.get(subnetId ?? '') || undefined;
  const portStatus = cloud.ports.get(portId ?? '')?.status || undefined;
  return {
    name: nameOf(entry),
    ...optional({ portId: portId?.toLowerCase() }),
    macAddress: macAddress.toLowerCase(),
    addresses: addressesOf(entry),
    ...optional({ mtu, networkId, networkName, subnetId, subnetName, portStatus }),
  };
}

function unusedPort(
  { portId, address, reason, message = '' }: PortVerdict,
  { ports }: CloudIndex,
): NodeView['unusedPorts'][number] {
  const macAddress = ports.get(portId)?.macAddress;
  return { portId, ...optional({ macAddress, address }), reason: reason ?? '', message };
}
