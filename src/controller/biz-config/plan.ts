import type { DesiredNode } from '../../api/desired-node.ts';
import { annotations } from '../../api/names.ts';
import type { RemovalConsent } from '../../api/removal-consent.ts';
import { isSameJson } from '../../api/same-json.ts';
import { type BizEntry, entriesOf } from '../../biz-config/entries.ts';
import { type BizSource, marksOf, sourceIn } from '../../biz-config/ownership.ts';
import type { NodeConfig } from '../objects/stores.ts';
import type { PlannedLoss } from '../removals/budget.ts';
import {
  deletionTime,
  hasEditConsent,
  hasUserDeleteConsent,
  isBlocked,
  isNewHold,
  isNewSideEffect,
  leavingMacs,
  losesNics,
} from './blocked-removals.ts';
import { type HolderIndex, holdersOf, type Observed } from './holders.ts';
import { openConsent, type WaitingRemovals, waitingRemovals } from './removal.ts';

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
  /** Removals held here, before the objects change. */
  readonly held: WaitingRemovals;
  /** Names of objects with removals held by the controller and without consent from this source. */
  readonly heldByController: readonly string[];
  /** Time of the user's consent to this generation's removals; undefined: none. */
  readonly consentAt: string | undefined;
  /** Held edits that get the consent; content and generation stay. */
  readonly editConsents: readonly NodeWrite[];
  /** Held deletions that get the consent. */
  readonly deletionConsents: readonly NodeConfig[];
  /** Objects that lose NICs, held or not. */
  readonly losing: readonly NodeConfig[];
}

const nothingHeld: WaitingRemovals = { names: [], why: '' };

/** Plan for an unreadable spec: no changes. */
const emptyPlan: ExpansionPlan = {
  nodes: [],
  deletions: [],
  releases: [],
  held: nothingHeld,
  heldByController: [],
  consentAt: undefined,
  editConsents: [],
  deletionConsents: [],
  losing: [],
};

/** Returns the step for each entry and object of a source. Pure. */
export function planExpansion(observed: Observed, now: Date): ExpansionPlan {
  const { source, marks } = observed;
  if (source.spec === undefined) return emptyPlan;
  const holders = holdersOf(observed);
  const entries = entriesOf(source, (identity) => {
    const { own, other } = holders.of(identity);
    return own ?? other;
  });
  const consentAt = openConsent(source, now);
  const nodes = entries.map((entry) => planNode(entry, holders, { marks, consentAt }));
  const deletions = deletionsOf(entries, holders);
  const losses = [
    ...deletions.map((config) => ({ config, macs: leavingMacs(config, []) })),
    ...nodes.flatMap(({ step }) => (isLossy(step) ? lossOf(step.write) : [])),
  ];
  const losing = losses.map(({ config }) => config);
  const blocked = blockedIn({ nodes, entries, holders, consentAt, now });
  const { budget } = observed;
  const held =
    losing.length === 0
      ? nothingHeld
      : waitingRemovals({
          source,
          marks,
          losing,
          blocked: blocked.objects,
          total: holders.own.length,
          hasConsent: consentAt !== undefined,
          budgets: budget?.kind === 'counted' ? budget.usesWith(losses) : [],
          unknown: budget?.kind === 'unknown' ? budget.why : undefined,
        });
  const waits = new Set(held.names);
  return {
    nodes: nodes.map((node) =>
      isLossy(node.step) && isIn(waits, node.object) ? hold(node) : node,
    ),
    deletions: deletions.filter((config) => !isIn(waits, config)),
    releases: holders.forged,
    held,
    consentAt,
    heldByController: blocked.objects.map(({ metadata }) => metadata.name).toSorted(),
    editConsents: blocked.editConsents,
    deletionConsents: blocked.deletionConsents,
    losing: [...losing, ...blocked.objects],
  };
}

function lossOf({ object, spec }: NodeWrite): PlannedLoss[] {
  return object ? [{ config: object, macs: leavingMacs(object, spec.interfaces ?? []) }] : [];
}

interface BlockedInput {
  readonly nodes: readonly PlannedNode[];
  readonly entries: readonly BizEntry[];
  readonly holders: HolderIndex;
  readonly consentAt: string | undefined;
  readonly now: Date;
}

/** Returns the objects whose removals the controller holds, and the consents to pass on. */
function blockedIn({ nodes, entries, holders, consentAt, now }: BlockedInput) {
  const edits = heldEdits(nodes, consentAt);
  const deletions = heldDeletions(holders.own, now);
  const left = unlisted(entries, holders);
  return {
    objects: [...edits.flatMap(({ object }) => object ?? []), ...deletions],
    editConsents: consentAt === undefined ? [] : edits,
    deletionConsents: deletions.filter((config) => isCovered(config, left, consentAt)),
  };
}

/** Returns unchanged objects with removals held by the controller, and the missing consent. */
function heldEdits(nodes: readonly PlannedNode[], consentAt: string | undefined): NodeWrite[] {
  return nodes.flatMap(({ entry, object, step }) => {
    if (step.kind !== 'same' || entry.kind !== 'usable' || !object || !isBlocked(object)) return [];
    const { spec } = entry.node;
    const macs = leavingMacs(object, spec.interfaces ?? []);
    if (macs.length === 0 || isNewHold(object, consentAt)) return [];
    if (hasEditConsent(object, spec.specHash, { at: consentAt, macs })) return [];
    // The mark stays: the generation in it is part of the rollout's revision.
    const mark = sourceIn(object.metadata);
    return mark ? [writeOf(object, entry.node, mark, { at: consentAt, macs })] : [];
  });
}

function heldDeletions(own: readonly NodeConfig[], now: Date): NodeConfig[] {
  return own.filter(
    (config) =>
      config.metadata.deletionTimestamp !== undefined &&
      isBlocked(config) &&
      !hasUserDeleteConsent(config, now),
  );
}

/**
 * True if the consent covers a deletion: of an object that this generation does not list, or that was deleted before
 * the consent. A listed object deleted by mistake afterwards is not covered.
 */
function isCovered(
  config: NodeConfig,
  left: readonly NodeConfig[],
  consentAt: string | undefined,
): boolean {
  if (consentAt === undefined || isNewSideEffect(config, consentAt)) return false;
  const deletedAt = deletionTime(config)?.getTime() ?? 0;
  return left.includes(config) || deletedAt <= Date.parse(consentAt);
}

function deletionsOf(entries: readonly BizEntry[], holders: HolderIndex): NodeConfig[] {
  return unlisted(entries, holders).filter(
    ({ metadata }) => metadata.deletionTimestamp === undefined,
  );
}

/** An entry without a node name may mean any node: until corrected, no object counts as left over. */
function unlisted(entries: readonly BizEntry[], { left }: HolderIndex): readonly NodeConfig[] {
  return entries.some(({ identity }) => identity.nodeName === '') ? [] : left;
}

interface Plan {
  readonly marks: BizSource;
  readonly consentAt: string | undefined;
}

function planNode(entry: BizEntry, holders: HolderIndex, plan: Plan): PlannedNode {
  const { own, other, taken } = holders.of(entry.identity);
  if (entry.kind === 'refused') return { entry, object: own ?? other, step: { kind: 'refused' } };
  if (other) return { entry, object: other, step: { kind: 'wins' } };
  if (taken) return refusedBy(taken, entry);
  return { entry, object: own, step: stepFor(own, entry.node, plan) };
}

/** Refuses an entry with a node name equal to a different entry's object name: each object describes one node. */
function refusedBy({ metadata }: NodeConfig, { position, entry, identity }: BizEntry): PlannedNode {
  const message = `MultiNicNodeConfig ${metadata.name} already belongs to the entry with the same instance id: set another attachedNodeName`;
  const refusal = { field: 'attachedNodeName', message };
  const refused: BizEntry = { position, entry, identity, kind: 'refused', refusal };
  return { entry: refused, object: undefined, step: { kind: 'refused' } };
}

function stepFor(own: NodeConfig | undefined, node: DesiredNode, { marks, consentAt }: Plan): Step {
  if (own?.metadata.deletionTimestamp !== undefined) return { kind: 'leaving' };
  if (own && holds(own, node, marks)) return { kind: 'same' };
  const { interfaces = [] } = node.spec;
  const macs = own ? leavingMacs(own, interfaces) : [];
  const loses = own !== undefined && losesNics(own, interfaces);
  return { kind: 'write', write: { ...writeOf(own, node, marks, { at: consentAt, macs }), loses } };
}

/** Returns the write of an object; with the time of a consent, the consent is for the NICs that leave. */
function writeOf(
  object: NodeConfig | undefined,
  node: DesiredNode,
  marks: BizSource,
  { at, macs }: { readonly at: string | undefined; readonly macs: readonly string[] },
): NodeWrite {
  const { spec } = node;
  const { uid } = object?.metadata ?? {};
  const consent =
    macs.length > 0 && at !== undefined && uid !== undefined
      ? consentTo({ uid, spec: spec.specHash ?? '', at, proven: [], consented: [...macs] })
      : {};
  const mark = marksOf(marks);
  const metadata = {
    name: object?.metadata.name ?? node.name,
    labels: { ...node.labels, ...mark.labels },
    annotations: { ...node.annotations, ...mark.annotations, ...consent },
  };
  return { object, metadata, spec, loses: macs.length > 0 };
}

function consentTo(consent: RemovalConsent) {
  return { [annotations.removalConsent]: JSON.stringify(consent) };
}

/**
 * True if the object matches its entry; mode and consent to adoption are the user's own. The generation in the source
 * mark is from its last change.
 */
function holds({ metadata, spec }: NodeConfig, node: DesiredNode, marks: BizSource): boolean {
  const isMarked = sourceIn(metadata)?.uid === marks.uid;
  const isLabelled = Object.entries(node.labels).every(
    ([key, value]) => metadata.labels?.[key] === value,
  );
  const { mode: _m, existingConfiguration: _c, ...content } = spec ?? {};
  return isMarked && isLabelled && isSameJson(content, node.spec);
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
