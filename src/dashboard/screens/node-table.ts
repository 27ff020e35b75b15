import { plainForm } from '../../api/address.ts';
import type { ScreenAnswer } from '../../api/dashboard/screens.ts';
import { expectedPorts } from '../../api/node-summary.ts';
import type { NicView, NodeView, PortView } from '../../api/read-http.ts';
import type { KubernetesNode } from '../../explain/facts.ts';
import { ofNic } from '../../explain/nic-code.ts';
import { wouldChange } from '../../explain/obstacles.ts';
import { driftOf } from '../../explain/steps/kernel.ts';
import { ofMessage, same } from '../../explain/wording.ts';

type NodeNic = ScreenAnswer<'node'>['nics'][number];
type NodeNetwork = ScreenAnswer<'node'>['networks'][number];

/** Facts about a node's table; undefined: not read. */
export interface NodeFacts {
  readonly node: NodeView;
  /** All ports on the node's server. */
  readonly ports: readonly PortView[] | undefined;
  readonly kubernetesNode: KubernetesNode | undefined;
}

/** Returns NICs, unused ports, and the server's further ports. */
export function nodeNicsOf(facts: NodeFacts): NodeNic[] {
  const { node, ports = [] } = facts;
  const rows = [
    ...node.nics.map((nic) => ofNicView(nic, facts)),
    ...expectedPorts(node).map((port) => ofUnusedPort(port, ports)),
  ];
  const known = new Set(rows.flatMap(({ portId }) => portId ?? []));
  const macs = new Set(rows.flatMap(({ macAddress = '' }) => macAddress.toLowerCase()));
  const further = ports.filter(
    ({ portId, macAddress }) => !known.has(portId) && !macs.has(macAddress.toLowerCase()),
  );
  return [...rows, ...further.map((port) => ofFurtherPort(port, facts.kubernetesNode))];
}

function ofNicView(nic: NicView, { node, ports = [] }: NodeFacts): NodeNic {
  const { name, portId, networkId, networkName, reason } = nic;
  const port = ports.find((each) => each.portId === portId);
  return {
    kind: 'nic',
    key: name,
    nic: name,
    portId,
    network: networkId ?? networkName,
    subnetName: nic.subnetName ?? nic.subnetId,
    macAddress: nic.macAddress,
    addresses: nic.addresses,
    mtu: nic.mtu,
    state: nic.state,
    reason,
    text: ofNic(reason, nic),
    carrier: nic.carrier,
    portStatus: port?.status ?? nic.portStatus,
    adminStateUp: port?.adminStateUp,
    isDrifted: driftOf(node, nic) !== undefined || wouldChange(nic),
    changedAt: nic.changedAt,
    checkedAt: nic.checkedAt,
  };
}

type UnusedPort = NodeView['unusedPorts'][number];

function ofUnusedPort(unused: UnusedPort, ports: readonly PortView[]): NodeNic {
  const { portId, macAddress, address, reason, message } = unused;
  const port = ports.find((each) => each.portId === portId);
  return {
    ...ofPort(port),
    kind: 'unusedPort',
    key: portId,
    portId,
    macAddress: macAddress ?? port?.macAddress,
    addresses: address === undefined ? addressesOf(port) : [address],
    state: 'Unused',
    reason,
    text: ofMessage(reason, message),
    isDrifted: false,
  };
}

/** A port with the Node's InternalIP is the primary NIC, never managed. */
function ofFurtherPort(port: PortView, kubernetesNode: KubernetesNode | undefined): NodeNic {
  const { portId, macAddress, verdict } = port;
  const own = new Set((kubernetesNode?.internalIps ?? []).map(plainForm));
  const isPrimary = addressesOf(port).some((ip) => own.has(plainForm(ip)));
  const { reason = '', message = '' } = verdict ?? {};
  return {
    ...ofPort(port),
    kind: isPrimary ? 'primary' : 'other',
    key: portId,
    portId,
    macAddress,
    addresses: addressesOf(port),
    state: 'Unused',
    reason: isPrimary ? '' : reason,
    text: isPrimary || reason === '' ? same('') : ofMessage(reason, message),
    isDrifted: false,
  };
}

function ofPort(port: PortView | undefined) {
  return {
    network: port?.networkId,
    portStatus: port?.status,
    adminStateUp: port?.adminStateUp,
  };
}

function addressesOf(port: PortView | undefined): string[] {
  return (port?.addresses ?? []).map(({ ip }) => ip);
}

/** Returns the networks behind the rows, in the order of the rows. */
export function networksOf(rows: readonly NodeNic[], { node, ports = [] }: NodeFacts) {
  const keys = [...new Set(rows.flatMap(({ network }) => network ?? []))];
  return keys.map((key): NodeNetwork => {
    const own = rows.filter(({ network }) => network === key);
    const isDown = own.some(
      ({ portStatus, adminStateUp }) => portStatus === 'DOWN' || adminStateUp === false,
    );
    return { key, name: nameOfNetwork(key, { nics: node.nics, ports }), isDown };
  });
}

/** Returns the name; without a name the id. */
function nameOfNetwork(
  key: string,
  { nics, ports }: { readonly nics: readonly NicView[]; readonly ports: readonly PortView[] },
): string {
  const named = [...nics, ...ports].find(
    ({ networkId, networkName: name }) => networkId === key && name !== undefined,
  );
  return named?.networkName ?? key;
}

/** Returns the Node with the rows of its InternalIPs. */
export function shownKubernetesNode(
  { name, isReady, internalIps }: KubernetesNode,
  rows: readonly NodeNic[],
): NonNullable<ScreenAnswer<'node'>['kubernetesNode']> {
  const rowOf = (ip: string) =>
    rows.find(({ addresses }) => addresses.some((each) => isAddress(each, ip)));
  return { name, isReady, internalIps: internalIps.map((ip) => ({ ip, key: rowOf(ip)?.key })) };
}

function isAddress(address: string, ip: string): boolean {
  return plainForm(address.split('/')[0] ?? '') === plainForm(ip);
}
