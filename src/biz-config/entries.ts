import { type DesiredNode, desiredNode } from '../api/desired-node.ts';
import type { BizInterface, BizNode } from '../api/multinicbizconfig.ts';
import { type InterfaceSpec, interfaceSpec, nodeConfigSpec } from '../api/multinicnodeconfig.ts';
import { interfaceName, maxIndex } from '../api/names.ts';
import { objectName } from '../api/object-name.ts';
import type { BizConfig } from './biz-config.ts';
import { type IndexHolder, indexesFor } from './indexes.ts';

/** MTU limits from the legacy MultiNicBizConfig; an entry outside them refuses only its own node. */
const mtuLimits = { min: 68, max: 9_000 };
const maxInterfaces = maxIndex + 1;

/** Node identity in an entry: by name, by server id, by both or by neither. */
export interface NodeIdentity {
  /** Name for the MultiNicNodeConfig; empty when the entry yields no legal object name. */
  readonly objectName: string;
  readonly nodeName: string;
  /** Lower case, for comparison. */
  readonly instanceId: string | undefined;
}

interface Refusal {
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

/** An entry in `spec.nodeConfigs` with the result: a usable node or a refusal. */
export type BizEntry = EntryBase &
  (
    | {
        readonly kind: 'usable';
        readonly node: DesiredNode;
        /** NICs waiting for an index until a removed NIC is gone; not part of `node` yet. */
        readonly waiting: readonly BizInterface[];
      }
    | { readonly kind: 'refused'; readonly refusal: Refusal }
  );

/** Finds the existing MultiNicNodeConfig for a node, if any. */
export type FindHolder = (identity: NodeIdentity) => IndexHolder | undefined;

/** Returns all entries, each as a desired node or with a refusal. Pure: depends only on its arguments. */
export function entriesOf(config: BizConfig, findHolder: FindHolder): readonly BizEntry[] {
  const { providerId = '', nodeConfigs = [] } = config.spec ?? {};
  const bases = nodeConfigs.map((entry, position) => ({
    position,
    entry,
    identity: identityOf(entry),
  }));
  const shared = duplicateRefusals(bases);
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
  const hasIndex = (_: unknown, at: number) => indexes[at] !== undefined;
  const interfaces = read.filter(hasIndex).flatMap(({ data }) => data ?? []);
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

/** Returns an interface in MultiNicNodeConfig form; blank text counts as absent. */
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
    refusal: { field: entryField(path), message: issue?.message ?? 'the value cannot be used' },
  };
}

/** Maps a MultiNicNodeConfig field name to the entry's field name. */
function entryField(field: string): string {
  if (field === 'nodeName') return 'attachedNodeName';
  return field === 'instanceId' ? 'attachedNodeId' : field;
}

/** Refuses all entries with the same node or the same MAC: the intended entry is unknown. */
function duplicateRefusals(bases: readonly EntryBase[]): ReadonlyMap<number, Refusal> {
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
