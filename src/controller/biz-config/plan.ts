import type { DesiredNode } from '../../api/desired-node.ts';
import { annotations } from '../../api/names.ts';
import { isSameJson } from '../../api/same-json.ts';
import { type BizEntry, entriesOf } from '../../biz-config/entries.ts';
import { type BizSource, marksOf, sourceIn } from '../../biz-config/ownership.ts';
import type { NodeConfig } from '../objects/stores.ts';
import { type HolderIndex, holdersOf, type Observed } from './holders.ts';
import { type WaitingRemovals, waitingRemovals } from './removal.ts';

/** A planned write for one node. */
export interface NodeWrite {
  /** Object to change; undefined: create a new object. */
  readonly object: NodeConfig | undefined;
  readonly metadata: {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
  };
  readonly spec: DesiredNode['spec'];
  /** True if the node loses NICs. */
  readonly loses: boolean;
}

/** One entry, its node's object, and the object's next step. */
export interface PlannedNode {
  readonly entry: BizEntry;
  /** The node's object, from any writer. */
  readonly object: NodeConfig | undefined;
  readonly step:
    | { readonly kind: 'refused' | 'wins' | 'same' | 'leaving' | 'held' }
    | { readonly kind: 'write'; readonly write: NodeWrite };
}

export interface ExpansionPlan {
  /** Nodes in spec order. */
  readonly nodes: readonly PlannedNode[];
  /** Objects without an entry. */
  readonly deletions: readonly NodeConfig[];
  /** Objects from another writer with the source's label. */
  readonly releases: readonly NodeConfig[];
  readonly held: WaitingRemovals;
  /** Objects losing NICs, held or not. */
  readonly losing: readonly NodeConfig[];
}

const nothingHeld: WaitingRemovals = { names: [], why: '' };

/** Plan for an unreadable spec: no changes. */
export const emptyPlan: ExpansionPlan = {
  nodes: [],
  deletions: [],
  releases: [],
  held: nothingHeld,
  losing: [],
};

/** Returns the step for each entry and object of a source. Pure. */
export function planExpansion(observed: Observed): ExpansionPlan {
  const { source, marks } = observed;
  if (source.spec === undefined) return emptyPlan;
  const holders = holdersOf(observed);
  const entries = entriesOf(source, (identity) => {
    const { own, other } = holders.of(identity);
    return own ?? other;
  });
  const nodes = entries.map((entry) => planNode(entry, holders, marks));
  const deletions = deletionsOf(entries, holders);
  const losing = [
    ...deletions,
    ...nodes.flatMap(({ step }) => (isLossy(step) && step.write.object ? [step.write.object] : [])),
  ];
  const total = holders.own.length;
  const held =
    losing.length === 0 ? nothingHeld : waitingRemovals({ source, marks, losing, total });
  const waits = new Set(held.names);
  return {
    nodes: nodes.map((node) =>
      isLossy(node.step) && isIn(waits, node.object) ? hold(node) : node,
    ),
    deletions: deletions.filter((config) => !isIn(waits, config)),
    releases: holders.forged,
    held,
    losing,
  };
}

/** An entry without a node name may mean any node: until corrected, no object counts as left over. */
function deletionsOf(entries: readonly BizEntry[], { left }: HolderIndex): NodeConfig[] {
  if (entries.some(({ identity }) => identity.nodeName === '')) return [];
  return left.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
}

function planNode(entry: BizEntry, holders: HolderIndex, marks: BizSource): PlannedNode {
  const { own, other, taken } = holders.of(entry.identity);
  if (entry.kind === 'refused') return { entry, object: own ?? other, step: { kind: 'refused' } };
  if (other) return { entry, object: other, step: { kind: 'wins' } };
  if (taken) return refusedBy(taken, entry);
  return { entry, object: own, step: stepFor(own, entry.node, marks) };
}

/** Refuses an entry whose node name is another entry's object name: one object describes one node. */
function refusedBy({ metadata }: NodeConfig, { position, entry, identity }: BizEntry): PlannedNode {
  const message = `MultiNicNodeConfig ${metadata.name} already belongs to the entry with the same instance id: set another attachedNodeName`;
  const refusal = { field: 'attachedNodeName', message };
  const refused: BizEntry = { position, entry, identity, kind: 'refused', refusal };
  return { entry: refused, object: undefined, step: { kind: 'refused' } };
}

function stepFor(own: NodeConfig | undefined, node: DesiredNode, marks: BizSource): Step {
  if (own?.metadata.deletionTimestamp !== undefined) return { kind: 'leaving' };
  if (own && holds(own, node, marks)) return { kind: 'same' };
  const { spec } = node;
  const loses = own !== undefined && losesNics(own, spec);
  const mark = marksOf(marks);
  const consent = loses && spec.specHash ? { [annotations.removalConsent]: spec.specHash } : {};
  const metadata = {
    name: own?.metadata.name ?? node.name,
    labels: { ...node.labels, ...mark.labels },
    annotations: { ...node.annotations, ...mark.annotations, ...consent },
  };
  return { kind: 'write', write: { object: own, metadata, spec, loses } };
}

/** True if the object matches its entry. The generation in the source mark is from its last change. */
function holds({ metadata, spec }: NodeConfig, node: DesiredNode, marks: BizSource): boolean {
  const isMarked = sourceIn(metadata)?.uid === marks.uid;
  const isLabelled = Object.entries(node.labels).every(
    ([key, value]) => metadata.labels?.[key] === value,
  );
  return isMarked && isLabelled && isSameJson(spec, node.spec);
}

interface EntryLike {
  readonly macAddress?: unknown;
}

/** True if a NIC in the object is missing in the new spec. */
function losesNics({ spec }: NodeConfig, { interfaces = [] }: DesiredNode['spec']): boolean {
  const stay = new Set(interfaces.map(({ macAddress }) => macAddress?.toLowerCase()));
  return (spec?.interfaces ?? []).some((entry) => {
    const mac = (entry as EntryLike | null)?.macAddress;
    return typeof mac === 'string' && !stay.has(mac.trim().toLowerCase());
  });
}

type Step = PlannedNode['step'];

function isLossy(step: Step): step is Extract<Step, { kind: 'write' }> {
  return step.kind === 'write' && step.write.loses;
}

function isIn(names: ReadonlySet<string>, config: NodeConfig | undefined): boolean {
  return config !== undefined && names.has(config.metadata.name);
}

function hold(node: PlannedNode): PlannedNode {
  return { ...node, step: { kind: 'held' } };
}
