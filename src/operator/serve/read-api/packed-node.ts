import { rfc3339 } from '../../../api/condition.ts';
import type { NicView, NodeView } from '../../../api/read-http.ts';
import {
  packedId,
  packedMac,
  packedName,
  unpackedId,
  unpackedMac,
  unpackedName,
} from '../../model/packing/ids.ts';
import { oneByteText, type SharedTexts } from '../../model/packing/texts.ts';
import { optional } from './optional.ts';

/** Longest message in a row (characters); a fresh read returns the whole message. */
const longestMessage = 200;

/** NodeView without the name and the fields common to an OpenstackConfig's rows. */
export type PackableNode = Omit<
  NodeView,
  'providerId' | 'nodeName' | 'config' | 'observedAt' | 'object'
>;

type Port = NodeView['unusedPorts'][number];

/** Fields with equal values in many NICs. */
type Place = Pick<
  NicView,
  'networkId' | 'networkName' | 'subnetId' | 'subnetName' | 'mtu' | 'portStatus'
>;
type State = Pick<NicView, 'state' | 'reason' | 'code' | 'carrier'>;

/** Fields with equal values in many nodes. */
type Common = Pick<
  NodeView,
  'mode' | 'state' | 'ready' | 'reason' | 'backend' | 'agentVersion' | 'drifted'
>;

type PackedNic = readonly [
  name: number | string,
  portId: string,
  mac: string,
  addresses: string,
  place: number,
  state: number,
  message: string,
  args: string | 0,
  changedAt: number | null,
  checkedAt: number | null,
  found: NicView['found'] | 0,
];

type PackedPort = readonly [
  portId: string,
  mac: string,
  address: string | 0,
  reason: number,
  message: string,
];

type PackedNode = readonly [
  instanceId: string,
  common: number,
  message: string,
  since: number | null,
  checkedAt: number | null,
  nics: readonly PackedNic[],
  ports: readonly PackedPort[],
];

/**
 * Packs a node into a string with about 90 bytes per NIC. Objects would take four times as much, because each id would be
 * a separate string.
 */
export function packNode(node: PackableNode, texts: SharedTexts): string {
  const { instanceId, message, since, checkedAt, nics, unusedPorts } = node;
  const { mode, state, ready, reason, backend, agentVersion, drifted } = node;
  const common: Common = {
    state,
    ready,
    reason,
    drifted,
    ...optional({ mode, backend, agentVersion }),
  };
  const packed: PackedNode = [
    packedId(instanceId),
    texts.numberOf(JSON.stringify(common)),
    short(message),
    seconds(since, undefined),
    seconds(checkedAt, undefined),
    nics.map((nic) => packNic(nic, node, texts)),
    unusedPorts.map((port) => packPort(port, texts)),
  ];
  return oneByteText(JSON.stringify(packed));
}

function packNic(nic: NicView, node: PackableNode, texts: SharedTexts): PackedNic {
  const { networkId, networkName, subnetId, subnetName, mtu, portStatus } = nic;
  const place = { networkId, networkName, subnetId, subnetName, mtu, portStatus };
  const { state, reason, code, carrier } = nic;
  return [
    packedName(nic.name),
    packedId(nic.portId ?? ''),
    packedMac(nic.macAddress),
    nic.addresses.join(),
    texts.numberOf(JSON.stringify(place)),
    texts.numberOf(JSON.stringify({ state, reason, code, carrier })),
    short(nic.message),
    nic.args ?? 0,
    seconds(nic.changedAt, node.since),
    seconds(nic.checkedAt, node.checkedAt),
    nic.found ?? 0,
  ];
}

function packPort(
  { portId, macAddress = '', address, reason, message }: Port,
  texts: SharedTexts,
): PackedPort {
  const mac = packedMac(macAddress);
  return [packedId(portId), mac, address ?? 0, texts.numberOf(reason), short(message)];
}

/** Unpacks a row. */
export function unpackNode(packed: string, texts: SharedTexts): PackableNode {
  const [instanceId, common, message, since, checkedAt, nics, ports] = JSON.parse(
    packed,
  ) as PackedNode;
  return {
    instanceId: unpackedId(instanceId),
    ...(JSON.parse(texts.textOf(common)) as Common),
    message,
    ...optional({ since: timeOf(since, undefined), checkedAt: timeOf(checkedAt, undefined) }),
    nics: nics.map((nic) => unpackNic(nic, { since, checkedAt }, texts)),
    unusedPorts: ports.map((port) => unpackPort(port, texts)),
  };
}

function unpackNic(
  nic: PackedNic,
  node: { readonly since: number | null; readonly checkedAt: number | null },
  texts: SharedTexts,
): NicView {
  const [name, portId, mac, addresses, place, state, message, args, ...rest] = nic;
  const [changedAt, checkedAt, found] = rest;
  return {
    name: unpackedName(name),
    ...optional({ portId: unpackedId(portId) || undefined }),
    macAddress: unpackedMac(mac),
    addresses: addresses === '' ? [] : addresses.split(','),
    ...(JSON.parse(texts.textOf(place)) as Place),
    ...(JSON.parse(texts.textOf(state)) as State),
    message,
    ...optional({
      args: args === 0 ? undefined : args,
      found: found === 0 ? undefined : found,
      changedAt: timeOf(changedAt, node.since),
      checkedAt: timeOf(checkedAt, node.checkedAt),
    }),
  };
}

function unpackPort([portId, mac, address, reason, message]: PackedPort, texts: SharedTexts): Port {
  return {
    portId: unpackedId(portId),
    ...optional({
      macAddress: unpackedMac(mac) || undefined,
      address: address === 0 ? undefined : address,
    }),
    reason: texts.textOf(reason),
    message,
  };
}

function short(message: string): string {
  return message.length <= longestMessage ? message : `${message.slice(0, longestMessage - 1)}…`;
}

/** Returns the seconds after `base` (undefined: after 1970): small numbers are short texts. null: no time. */
function seconds(time: string | undefined, base: string | undefined): number | null {
  const at = secondsOf(time);
  return at === null ? null : at - (secondsOf(base) ?? 0);
}

function secondsOf(time: string | undefined): number | null {
  const ms = Date.parse(time ?? '');
  return Number.isNaN(ms) ? null : Math.floor(ms / 1000);
}

function timeOf(number: number | null, base: number | null | undefined): string | undefined {
  return number === null ? undefined : rfc3339(new Date((number + (base ?? 0)) * 1000));
}
