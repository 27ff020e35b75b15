import type { ExistingNodeConfig, NodeResult } from '../../../api/node-configs-http.ts';
import type { OperatorReason } from '../../../api/reasons.ts';
import { isSameJson } from '../../../api/same-json.ts';
import type { NodePlan, PortVerdict } from '../../../plan/plan.ts';
import { entryWithLowerIds } from '../../../plan/view.ts';
import { type ClusterFacts, factsOf, type NodeFacts } from '../../clusters/deliver/node-facts.ts';
import { Slot } from '../../model/memory/slot.ts';
import type { SyncContent } from '../../model/sync-content.ts';
import type { SyncResult } from '../result.ts';

/** A node with NICs that are not configured yet. */
export interface LateNode {
  readonly nodeName: string;
  readonly configured: number;
  readonly planned: number;
  /** Undefined: the business cluster returns no status. */
  readonly why: string | undefined;
  /** True: a check in mode Observe found the present differences. */
  readonly isObserved?: boolean;
}

/** Number of planned NICs, and NICs configured on their nodes. */
export interface NicCount {
  /** Undefined: a legacy Viola, which reports no status. */
  readonly configured: number | undefined;
  /** Includes undecided ports. */
  readonly planned: number;
  readonly late: readonly LateNode[];
  /** Ports that may become NICs: a read for their decision failed. */
  readonly undecided: readonly UndecidedPort[];
}

interface UndecidedPort {
  readonly portId: string;
  readonly reason: OperatorReason;
  readonly message: string;
}

/**
 * A planned node, with the object after the sync. The operator keeps one per node: the fields are flat, and nodes share
 * equal lists.
 */
export interface PlannedNode {
  readonly nodeName: string;
  /** Planned NICs. */
  readonly planned: number;
  /** The object's uid; undefined: the business cluster had no object. */
  readonly uid: string | undefined;
  readonly generation: number | undefined;
  /** Indexes of the entries in `spec.interfaces` with planned content. */
  readonly entries: readonly number[];
}

interface Counted {
  readonly count: NicCount;
  readonly nodes: readonly PlannedNode[];
}

const counts = new Slot<SyncContent, Counted | undefined>(() => undefined);

/** Returns a sync's count, made once per content. */
export function nicsOf(synced: SyncResult): NicCount {
  return countedOf(synced).count;
}

/** Returns a sync's planned nodes; `countAgain` compares later reads with these nodes. */
export function plannedNodesOf(synced: SyncResult): readonly PlannedNode[] {
  return countedOf(synced).nodes;
}

function countedOf(synced: SyncResult): Counted {
  const counted = counts.of(synced.content) ?? countNics(synced);
  counts.set(synced.content, counted);
  return counted;
}

/**
 * Counts the NICs with the planned content in the object and status Configured for the object's current
 * generation. Skips NICs from other OpenstackConfigs.
 */
function countNics({ nodes, held, reportsStatus, delivery, ports }: SyncResult): Counted {
  const undecided = undecidedIn(ports);
  const own = nodes.filter(({ isForeign, interfaces }) => !isForeign && interfaces.length > 0);
  if (!reportsStatus) {
    const all = own.reduce((sum, { interfaces }) => sum + interfaces.length, 0);
    const planned = all + undecided.length;
    return { count: { configured: undefined, planned, late: [], undecided }, nodes: [] };
  }
  const byName = new Map(held.map((node) => [node.nodeName, node]));
  const accepted = new Map(delivery.accepted.map((node) => [node.nodeName, node]));
  const each = own.map((node) => {
    const existing = byName.get(node.nodeName);
    const before = plannedNode(node, existing);
    return {
      late: countOf(before, existing && factsOf(existing)),
      planned: writtenNode(before, accepted.get(node.nodeName)),
    };
  });
  const late = each.map((one) => one.late);
  return { count: sumOf(late, undecided), nodes: each.map(({ planned }) => planned) };
}

const unread: ReadonlySet<string> = new Set<OperatorReason>([
  'NovaServerError',
  'NeutronPortError',
  'NetworkUnread',
]);

function undecidedIn(ports: readonly PortVerdict[]): UndecidedPort[] {
  const open = ports.filter(({ nic, address }) => nic === undefined && address !== undefined);
  return open.flatMap(({ portId, reason = '', message = '' }) =>
    unread.has(reason) ? { portId, reason: reason as OperatorReason, message } : [],
  );
}

/** Counts the planned NICs by the present objects. */
export function countAgain(
  nodes: readonly PlannedNode[],
  undecided: NicCount['undecided'],
  facts: ClusterFacts,
): NicCount {
  const each = nodes.map((node) => {
    const now = facts.get(node.nodeName);
    if (!isChanged(node, now)) return countOf(node, now);
    const { nodeName, planned } = node;
    const why = 'its MultiNicNodeConfig has changed since the last sync';
    return { nodeName, planned, configured: 0, why };
  });
  return sumOf(each, undecided);
}

/** Describes nodes with an object changed or deleted since the sync. */
export function changedNodes(nodes: readonly PlannedNode[], facts: ClusterFacts): string[] {
  return nodes.flatMap((node) => {
    const now = facts.get(node.nodeName);
    if (!now) return `node ${node.nodeName}: its MultiNicNodeConfig does not exist`;
    if (now.isLeaving) return `node ${node.nodeName}: its MultiNicNodeConfig is being deleted`;
    return isChanged(node, now)
      ? `node ${node.nodeName}: its MultiNicNodeConfig has changed since the last sync`
      : [];
  });
}

/** True if a present object has changed since the sync. */
function isChanged({ uid, generation }: PlannedNode, now: NodeFacts | undefined): boolean {
  if (!now || now.isLeaving || uid === undefined) return false;
  return now.uid !== uid || now.generation !== generation;
}

function sumOf(each: readonly LateNode[], undecided: NicCount['undecided']): NicCount {
  return {
    configured: each.reduce((sum, { configured }) => sum + configured, 0),
    planned: each.reduce((sum, { planned }) => sum + planned, undecided.length),
    late: each.filter(({ configured, planned }) => configured < planned),
    undecided,
  };
}

function plannedNode(
  { nodeName, interfaces }: NodePlan,
  existing: ExistingNodeConfig | undefined,
): PlannedNode {
  const entries = (existing?.spec.interfaces ?? []).map(entryWithLowerIds);
  const indexes = interfaces.map((nic, at) => indexIn(entries, nic, at));
  const isInOrder = indexes.every((index, at) => index === at);
  return {
    nodeName,
    planned: interfaces.length,
    uid: existing?.uid,
    generation: existing?.generation,
    entries: isInOrder ? firstIndexes(indexes.length) : indexes.filter((index) => index >= 0),
  };
}

const inOrder = new Map<number, readonly number[]>();

/** Returns 0, 1, … in a list shared by all nodes with `count` NICs. */
export function firstIndexes(count: number): readonly number[] {
  const known = inOrder.get(count) ?? Array.from({ length: count }, (_, index) => index);
  inOrder.set(count, known);
  return known;
}

/** Returns the index of an entry with a NIC's content, first at the NIC's own position; -1: none. */
function indexIn(entries: readonly unknown[], nic: unknown, at: number): number {
  return isSameJson(entries[at], nic) ? at : entries.findIndex((entry) => isSameJson(entry, nic));
}

/** Returns the node after a POST: Viola writes the planned NICs in the posted order. */
function writtenNode(node: PlannedNode, written: NodeResult | undefined): PlannedNode {
  if (!written) return node;
  const { uid, generation } = written;
  return { ...node, uid, generation, entries: firstIndexes(node.planned) };
}

function countOf(
  { nodeName, planned, entries }: PlannedNode,
  now: NodeFacts | undefined,
): LateNode {
  const late = (why: string | undefined, configured = 0) => ({
    nodeName,
    configured,
    planned,
    why,
  });
  if (!now) return late('the business cluster has no MultiNicNodeConfig for it yet');
  if (now.isLeaving) return late('its MultiNicNodeConfig is being deleted');
  if (now.state === undefined) return late(undefined);
  if (!now.isCurrent) return late('its status is from an earlier generation');
  const configured = entries.filter((index) => now.configured[index]).length;
  const why =
    entries.length < planned
      ? 'its MultiNicNodeConfig does not have the planned NICs yet'
      : (now.why ?? `its state is ${now.state}`);
  const counted = late(why, configured);
  return now.isObserved ? { ...counted, isObserved: true } : counted;
}
