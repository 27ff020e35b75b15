import type { Condition } from '../api/condition.ts';
import type { OpenstackConfig } from '../api/openstackconfig.ts';
import type { NicView, NodeView, PortView } from '../api/read-http.ts';
import { keyOf } from './commands.ts';
import type { Fact } from './fact.ts';
import type { PortFacts } from './facts.ts';

/** An OpenstackConfig in relation to a port. */
export type PortConfigView = PortView['configs'][number];

/** Port with related facts. */
export interface Subject {
  readonly facts: PortFacts;
  /** Undefined: not read, or no such port. */
  readonly port: PortView | undefined;
  /** OpenstackConfig for this port, or the closest match; undefined: none. */
  readonly config: PortConfigView | undefined;
  /** Object behind `config`; undefined: not read. */
  readonly object: OpenstackConfig | undefined;
  /** Undefined: not read, or no OpenstackConfig delivers the node. */
  readonly node: NodeView | undefined;
  /** Undefined: the node was not read, or has no such NIC. */
  readonly nic: NicView | undefined;
}

export function subjectOf(facts: PortFacts): Subject {
  const port = valueOf(facts.port);
  const node = valueOf(facts.node);
  const config = port && decidingConfig(port);
  const configs = facts.configs && valueOf(facts.configs);
  const name = facts.nicName ?? port?.verdict?.nic;
  const nic = node?.nics.find((each) => (port ? isOf(each, port, name) : each.name === name));
  const object = configs?.find((each) => keyOf(each) === config?.config);
  return { facts, port, config, object, node, nic };
}

/** NICs from the legacy operator have no port id. */
function isOf({ portId, macAddress, name }: NicView, port: PortView, nic: string | undefined) {
  if (portId !== undefined) return portId === port.portId;
  return macAddress.toLowerCase() === port.macAddress.toLowerCase() && (nic ?? name) === name;
}

/** Returns a fact's value; undefined: not read, or read and absent. */
export function valueOf<T>(fact: Fact<T>): T | undefined {
  return fact.state === 'read' ? fact.value : undefined;
}

/**
 * Returns the OpenstackConfig with both server and subnet selected, otherwise the closest match. A user selects a subnet
 * for the ports inside: a missing server comes before a missing subnet.
 */
function decidingConfig({ configs, verdict }: PortView): PortConfigView | undefined {
  const rank = (each: PortConfigView) => rankOf(each) - (each.config === verdict?.config ? 0.5 : 0);
  return configs.toSorted((a, b) => rank(a) - rank(b))[0];
}

function rankOf({ selectsServer, selectsSubnet }: PortConfigView): number {
  if (selectsServer && selectsSubnet) return 0;
  if (selectsServer !== false && selectsSubnet !== false) return 1;
  if (selectsSubnet) return 2;
  return selectsServer ? 3 : 4;
}

/** Returns an OpenstackConfig's business cluster; undefined: a legacy Viola lists no clusters. */
export function providerOfConfig({ spec }: OpenstackConfig): string | undefined {
  if (spec.settings?.violaCompatibility === 'legacy') return undefined;
  // The operator's default provider is unknown here.
  return spec.credentials.k8sProviderID ?? spec.credentials.openstackProviderID;
}

/** Returns the business cluster for a port, also before the first sync; undefined: unknown. */
export function providerOfPort(
  port: PortView,
  configs: readonly OpenstackConfig[],
): string | undefined {
  if (port.node) return port.node.providerId;
  const deciding = decidingConfig(port)?.config;
  const object = configs.find((each) => keyOf(each) === deciding);
  return object && providerOfConfig(object);
}

/** Returns the subnet's name if a known NIC is in the subnet, otherwise the id. */
export function subnetName(id: string, { facts, node }: Subject): string {
  const neighbours = valueOf(facts.neighbours) ?? [];
  const nics = [...(node ? [node] : []), ...neighbours].flatMap((each) => each.nics);
  return nics.find(({ subnetId }) => subnetId === id)?.subnetName ?? id;
}

/** Returns the server's name, or the id if unnamed. */
export function serverName({ serverName: name, deviceId }: PortView): string {
  return name ?? deviceId;
}

/** Returns the NIC's name, as planned or on the node; undefined: the port is not a NIC, or unread. */
export function nicNameOf({ nic, port }: Subject): string | undefined {
  return nic?.name ?? port?.verdict?.nic;
}

/** Returns the name of the port's node; undefined: unknown. */
export function nodeNameOf({ node, port }: Subject): string | undefined {
  return node?.nodeName ?? port?.node?.nodeName;
}

/** True if a ready or observed object lacks the planned NIC. */
export function isUnsent(node: NodeView, { state, reason }: NicView): boolean {
  const isReported = node.ready === 'True' || isObserved(node);
  return isReported && state === 'Pending' && reason === '';
}

/** True if agents only check the node, by the last status. */
export function isObserved({ state }: Pick<NodeView, 'state'>): boolean {
  return state === 'Observed';
}

/** True if an OpenstackConfig's Ready is about a complete sync; with mode Observe Ready stays Unknown. */
export function isSyncedBy(ready: Condition | undefined): boolean {
  return ready?.status === 'True' || ready?.reason === 'Observed';
}

export function nodeKey({ providerId, nodeName }: Pick<NodeView, 'providerId' | 'nodeName'>) {
  return `${providerId}/${nodeName}`;
}
