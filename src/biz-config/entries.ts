import { type DesiredNode, desiredNode } from '../api/desired-node.ts';
import type { BizInterface, BizNode } from '../api/multinicbizconfig.ts';
import { type InterfaceSpec, interfaceSpec, nodeConfigSpec } from '../api/multinicnodeconfig.ts';
import { interfaceName, maxIndex } from '../api/names.ts';
import { objectName } from '../api/object-name.ts';
import type { BizConfig } from './biz-config.ts';
import { type IndexHolder, indexesFor } from './indexes.ts';

/** Limits of seed fields; an entry outside of them refuses its own node. */
const mtuLimits = { min: 68, max: 9_000 };
const maxInterfaces = maxIndex + 1;

/** What an entry says of its node; an entry may name a node by its name, by its server id, or not at all. */
export interface NodeIdentity {
  /** Name of the MultiNicNodeConfig; empty when the entry names none that an object may have. */
  readonly objectName: string;
  readonly nodeName: string;
  /** Lower case, as it is compared. */
  readonly instanceId: string | undefined;
}

export interface Refusal {
  /** Field within the entry, such as `interfaces[2].mtu`. */
  readonly field: string;
  readonly message: string;
}

interface EntryBase {
  /** Position in `spec.nodeConfigs`. */
  readonly position: number;
  readonly entry: BizNode;
  readonly identity: NodeIdentity;
}

/** An entry of `spec.nodeConfigs` and what it comes to. */
export type BizEntry = EntryBase &
  (
    | {
        readonly kind: 'usable';
        readonly node: DesiredNode;
        /** NICs that wait for an index until one that leaves is gone; they are not in `node` yet. */
        readonly waiting: readonly BizInterface[];
      }
    | { readonly kind: 'refused'; readonly refusal: Refusal }
  );

/** The MultiNicNodeConfig that exists for a node, if any. */
export type FindHolder = (identity: NodeIdentity) => IndexHolder | undefined;

/** Entries of a source in the form that is stored, or why one cannot be used. Pure: depends on its arguments only. */
export function entriesOf(config: BizConfig, findHolder: FindHolder): readonly BizEntry[] {
  const { providerId = '', nodeConfigs = [] } = config.spec ?? {};
  const bases = nodeConfigs.map((entry, position) => ({
    position,
    entry,
    identity: identityOf(entry),
  }));
  const shared = refusalsOfShared(bases);
  return bases.map((base): BizEntry => {
    const refusal = shared.get(base.position) ?? refusalOf(base);
    if (refusal) return { ...base, kind: 'refused', refusal };
    return { ...base, ...usable(base, providerId.trim(), findHolder) };
  });
}

export function identityOf({ attachedNodeId, attachedNodeName }: BizNode): NodeIdentity {
  const id = attachedNodeId?.trim() ?? '';
  const nodeName = (attachedNodeName?.trim() ?? '') || id;
  return {
    objectName: objectName(nodeName),
    nodeName,
    instanceId: id === '' ? undefined : id.toLowerCase(),
  };
}

function refusalOf({ entry, identity }: EntryBase): Refusal | undefined {
  const { interfaces = [] } = entry;
  if (identity.nodeName === '') {
    const message = 'the entry names no node: set attachedNodeName, attachedNodeId, or both';
    return { field: 'attachedNodeName', message };
  }
  if (interfaces.length > maxInterfaces) {
    const message = `${interfaces.length} interfaces; a node has at most ${maxInterfaces}: remove some`;
    return { field: 'interfaces', message };
  }
  for (const [at, { mtu }] of interfaces.entries()) {
    if (mtu !== undefined && (mtu < mtuLimits.min || mtu > mtuLimits.max)) {
      const message = `${mtu} is not an MTU from ${mtuLimits.min} to ${mtuLimits.max}`;
      return { field: `interfaces[${at}].mtu`, message };
    }
  }
  return undefined;
}

type Outcome =
  | { readonly kind: 'usable'; readonly node: DesiredNode; readonly waiting: BizInterface[] }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

function usable({ entry, identity }: EntryBase, providerId: string, find: FindHolder): Outcome {
  const all = entry.interfaces ?? [];
  const indexes = indexesFor(all, find(identity));
  const read = all.map((nic, at) => interfaceSpec.safeParse(plain(nic, indexes[at] ?? 0)));
  for (const [at, { error }] of read.entries()) {
    if (error) return refused(`interfaces[${at}]`, error.issues[0]);
  }
  const isPlaced = (_: unknown, at: number) => indexes[at] !== undefined;
  const interfaces = read.filter(isPlaced).flatMap(({ data }) => data ?? []);
  const waiting = all.filter((_, at) => indexes[at] === undefined);
  return checked(identity, entry.attachedNodeId?.trim(), interfaces, { providerId, waiting });
}

function checked(
  { nodeName }: NodeIdentity,
  instanceId: string | undefined,
  interfaces: InterfaceSpec[],
  rest: { readonly providerId: string; readonly waiting: BizInterface[] },
): Outcome {
  const id = instanceId ? { instanceId } : {};
  const desired = desiredNode({ nodeName, interfaces, ...id }, rest.providerId);
  if (desired.kind === 'invalid') {
    const { field, message } = desired.error;
    return { kind: 'refused', refusal: { field: entryField(field), message } };
  }
  const { error } = nodeConfigSpec.safeParse(desired.node.spec);
  if (error) return refused('', error.issues[0]);
  return { kind: 'usable', node: desired.node, waiting: rest.waiting };
}

/** Blank texts count as absent. */
function plain({ portId, macAddress = '', address, cidr, mtu }: BizInterface, index: number) {
  return {
    id: index,
    name: interfaceName(index),
    macAddress: macAddress.trim(),
    portId: portId?.trim() || undefined,
    address: address?.trim() || undefined,
    cidr: cidr?.trim() || undefined,
    mtu,
  };
}

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

function refused(at: string, issue: Issue | undefined): Outcome {
  const path = [at, ...(issue?.path ?? []).map(String)].filter((part) => part !== '').join('.');
  return {
    kind: 'refused',
    refusal: { field: entryField(path), message: issue?.message ?? 'it cannot be used' },
  };
}

/** Fields of a MultiNicNodeConfig have other names in an entry. */
function entryField(field: string): string {
  if (field === 'nodeName') return 'attachedNodeName';
  return field === 'instanceId' ? 'attachedNodeId' : field;
}

/** Entries that are about one node, or have a MAC of one NIC, are all refused: which of them is meant is unknown. */
function refusalsOfShared(bases: readonly EntryBase[]): ReadonlyMap<number, Refusal> {
  const refusals = new Map<number, Refusal>();
  const refuse = (found: readonly Claim[]): void => {
    const positions = [...new Set(found.map(({ position }) => position))];
    if (positions.length < 2) return;
    for (const { position, field, value } of found) {
      const others = positions.filter((one) => one !== position).slice(0, 3);
      const message = `"${value}" is also in ${others.map((n) => `nodeConfigs[${n}]`).join(', ')}: remove all but one`;
      refusals.set(position, { field, message });
    }
  };
  for (const claims of byValue(bases.flatMap(macClaims))) refuse(claims);
  for (const claims of byValue(bases.flatMap(nodeClaims))) refuse(claims);
  return refusals;
}

interface Claim {
  readonly position: number;
  readonly field: string;
  readonly value: string;
  readonly key: string;
}

function nodeClaims({ position, identity }: EntryBase): Claim[] {
  const { objectName: name, nodeName, instanceId } = identity;
  return [
    ...(name === ''
      ? []
      : [{ position, field: 'attachedNodeName', value: nodeName, key: `name ${name}` }]),
    ...(instanceId === undefined
      ? []
      : [{ position, field: 'attachedNodeId', value: instanceId, key: `id ${instanceId}` }]),
  ];
}

function macClaims({ position, entry }: EntryBase): Claim[] {
  return (entry.interfaces ?? []).flatMap(({ macAddress }, at) => {
    const value = macAddress?.trim().toLowerCase();
    return value
      ? [{ position, field: `interfaces[${at}].macAddress`, value, key: `mac ${value}` }]
      : [];
  });
}

function byValue(claims: readonly Claim[]): Iterable<readonly Claim[]> {
  return Map.groupBy(claims, ({ key }) => key).values();
}
