import type { OpenstackConfig } from '../api/openstackconfig.ts';
import type { NicView, NodeView, PortConfigView, PortView } from '../api/read-http.ts';
import { keyOf } from './commands.ts';
import type { Fact } from './fact.ts';
import type { PortFacts } from './facts.ts';

/** A port with the facts that belong to it. */
export interface Subject {
  readonly facts: PortFacts;
  /** Undefined: not read, or no such port. */
  readonly port: PortView | undefined;
  /** OpenstackConfig that decides about the port, or comes closest; undefined: none. */
  readonly config: PortConfigView | undefined;
  /** Object of `config`; undefined: not read. */
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

/** NICs of an earlier generation carry no port id. */
function isOf({ portId, macAddress, name }: NicView, port: PortView, nic: string | undefined) {
  if (portId !== undefined) return portId === port.portId;
  return macAddress.toLowerCase() === port.macAddress.toLowerCase() && (nic ?? name) === name;
}

/** Returns the value of a fact; undefined: not read, or read and absent. */
export function valueOf<T>(fact: Fact<T>): T | undefined {
  return fact.state === 'read' ? fact.value : undefined;
}

/**
 * Returns the OpenstackConfig whose decision counts: the one that selects server and subnet, else the one that lacks
 * least. A user who selected the subnet wants its ports, so a missing server comes before a missing subnet.
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

/** Returns the subnet's name where a NIC in it is known, else its id. */
export function subnetName(id: string, { facts, node }: Subject): string {
  const neighbours = valueOf(facts.neighbours) ?? [];
  const nics = [...(node ? [node] : []), ...neighbours].flatMap((each) => each.nics);
  return nics.find(({ subnetId }) => subnetId === id)?.subnetName ?? id;
}

/** Returns the server's name, else its id. */
export function serverName({ serverName: name, deviceId }: PortView): string {
  return name ?? deviceId;
}

export function nodeKey({ providerId, nodeName }: Pick<NodeView, 'providerId' | 'nodeName'>) {
  return `${providerId}/${nodeName}`;
}
