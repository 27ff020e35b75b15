import { rfc3339 } from '../../api/condition.ts';
import { indexOfName, interfaceName } from '../../api/names.ts';
import type { NicView, NodeView } from '../../api/read-http.ts';

/** Most characters of a message in a row; a fresh read of the node returns the whole message. */
const longestMessage = 200;

/** Texts that many nodes share, such as network ids: a row has their numbers. */
export class SharedTexts {
  readonly #numbers = new Map<string, number>();
  readonly #texts: string[] = [];

  /** Returns the number of a text; -1: undefined. */
  numberOf(text: string | undefined): number {
    if (text === undefined) return -1;
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    const number = this.#texts.push(text) - 1;
    this.#numbers.set(text, number);
    return number;
  }

  textOf(number: number): string | undefined {
    return this.#texts[number];
  }
}

/** NodeView without the fields that all rows of an OpenstackConfig share. */
export type PackableNode = Omit<NodeView, 'providerId' | 'config' | 'observedAt' | 'object'>;

type Ports = NodeView['unusedPorts'];

/**
 * Packs a node into one string of about 100 bytes per NIC. As an object it would take three times as much: each id is a
 * string of its own.
 */
export function packNode(node: PackableNode, texts: SharedTexts): string {
  const number = (text: string | undefined) => texts.numberOf(text);
  const { nodeName, instanceId, state, ready, reason, message, since, drifted, checkedAt } = node;
  const { backend, agentVersion, nics, unusedPorts } = node;
  const head = [nodeName, packedId(instanceId), number(state), number(ready), number(reason)];
  const more = [short(message), seconds(since), drifted ? 1 : 0, seconds(checkedAt)];
  const last = [number(backend), number(agentVersion)];
  const packedNics = nics.map((nic) => packNic(nic, number));
  const ports = unusedPorts.map(({ portId, macAddress, address, reason: why, message: text }) => [
    packedId(portId),
    packedMac(macAddress ?? ''),
    address ?? 0,
    number(why),
    short(text),
  ]);
  return JSON.stringify([...head, ...more, ...last, packedNics, ports]);
}

type PackedNic = readonly [
  name: number | string,
  portId: string,
  mac: string,
  addresses: string,
  mtu: number,
  networkId: number,
  networkName: number,
  subnetId: number,
  subnetName: number,
  portStatus: number,
  state: number,
  reason: number,
  message: string,
  carrier: number,
  changedAt: number,
  checkedAt: number,
];

type PackedPort = readonly [
  portId: string,
  mac: string,
  address: string | 0,
  reason: number,
  message: string,
];

type PackedNode = readonly [
  nodeName: string,
  instanceId: string,
  state: number,
  ready: number,
  reason: number,
  message: string,
  since: number,
  drifted: number,
  checkedAt: number,
  backend: number,
  agentVersion: number,
  nics: readonly PackedNic[],
  ports: readonly PackedPort[],
];

function packNic(nic: NicView, number: (text: string | undefined) => number): PackedNic {
  const { carrier } = nic;
  return [
    packedName(nic.name),
    packedId(nic.portId ?? ''),
    packedMac(nic.macAddress),
    nic.addresses.join(),
    nic.mtu ?? 0,
    number(nic.networkId),
    number(nic.networkName),
    number(nic.subnetId),
    number(nic.subnetName),
    number(nic.portStatus),
    number(nic.state),
    number(nic.reason),
    short(nic.message),
    carrier === undefined ? -1 : Number(carrier),
    seconds(nic.changedAt),
    seconds(nic.checkedAt),
  ];
}

/** Unpacks a row. */
export function unpackNode(packed: string, texts: SharedTexts): PackableNode {
  const text = (number: number) => texts.textOf(number);
  const word = (number: number) => text(number) ?? '';
  const row = JSON.parse(packed) as PackedNode;
  const [nodeName, instanceId, state, ready, reason, message, since, drifted, checked] = row;
  const [, , , , , , , , , backend, agentVersion, nics, ports] = row;
  return {
    nodeName,
    instanceId: unpackedId(instanceId),
    state: word(state),
    ready: word(ready) as NodeView['ready'],
    reason: word(reason),
    message,
    ...present('since', timeOf(since)),
    drifted: drifted === 1,
    ...present('checkedAt', timeOf(checked)),
    ...present('backend', text(backend)),
    ...present('agentVersion', text(agentVersion)),
    nics: nics.map((nic) => unpackNic(nic, text)),
    unusedPorts: ports.map((port) => unpackPort(port, word)),
  };
}

function unpackNic(nic: PackedNic, text: (number: number) => string | undefined): NicView {
  const [name, portId, mac, addresses, mtu, networkId, networkName, subnetId, subnetName] = nic;
  const [, , , , , , , , , portStatus, state, reason, message, carrier, changed, checked] = nic;
  return {
    name: typeof name === 'number' ? interfaceName(name) : name,
    ...present('portId', unpackedId(portId) || undefined),
    macAddress: unpackedMac(mac),
    addresses: addresses === '' ? [] : addresses.split(','),
    ...present('mtu', mtu === 0 ? undefined : mtu),
    ...present('networkId', text(networkId)),
    ...present('networkName', text(networkName)),
    ...present('subnetId', text(subnetId)),
    ...present('subnetName', text(subnetName)),
    ...present('portStatus', text(portStatus)),
    state: text(state) ?? '',
    reason: text(reason) ?? '',
    message,
    ...present('carrier', carrier === -1 ? undefined : carrier === 1),
    ...present('changedAt', timeOf(changed)),
    ...present('checkedAt', timeOf(checked)),
  };
}

function unpackPort(port: PackedPort, word: (number: number) => string): Ports[number] {
  const [portId, mac, address, reason, message] = port;
  return {
    portId: unpackedId(portId),
    ...present('macAddress', unpackedMac(mac) || undefined),
    ...present('address', address === 0 ? undefined : address),
    reason: word(reason),
    message,
  };
}

function present<K extends string, V>(key: K, value: V | undefined): { [name in K]?: V } {
  return (value === undefined ? {} : { [key]: value }) as { [name in K]?: V };
}

function short(message: string): string {
  return message.length <= longestMessage ? message : `${message.slice(0, longestMessage - 1)}…`;
}

/** Seconds since 1970; 0: no time. */
function seconds(time: string | undefined): number {
  const ms = Date.parse(time ?? '');
  return Number.isNaN(ms) ? 0 : Math.floor(ms / 1000);
}

function timeOf(number: number): string | undefined {
  return number === 0 ? undefined : rfc3339(new Date(number * 1000));
}

function packedName(name: string): number | string {
  const index = indexOfName(name);
  return index !== undefined && interfaceName(index) === name ? index : name;
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** A UUID takes 22 characters; any other id stays as it is, after a mark. */
function packedId(id: string): string {
  if (!uuid.test(id)) return `=${id}`;
  return Buffer.from(id.replaceAll('-', ''), 'hex').toString('base64url');
}

function unpackedId(packed: string): string {
  if (packed.startsWith('=')) return packed.slice(1);
  const hex = Buffer.from(packed, 'base64url').toString('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

const mac = /^([0-9a-f]{2}:){5}[0-9a-f]{2}$/;

function packedMac(address: string): string {
  return mac.test(address) ? address.replaceAll(':', '') : `=${address}`;
}

function unpackedMac(packed: string): string {
  if (packed.startsWith('=')) return packed.slice(1);
  return packed.match(/../g)?.join(':') ?? '';
}
