import { counted } from '../../api/counted.ts';
import type { DesiredNode } from '../../api/desired-node.ts';
import type { MultiNicNodeConfig } from '../../api/multinicnodeconfig.ts';
import { fieldManagers } from '../../api/names.ts';
import { specHash } from '../../api/spec-hash.ts';
import { type BizEntry, entriesOf, type NodeIdentity } from '../../biz-config/entries.ts';
import { sourceIn } from '../../biz-config/ownership.ts';
import { nodeNameOf } from '../../viola/node-configs/node-config.ts';
import type { NodeNames, Observed } from './observe.ts';
import { ownershipOf } from './ownership.ts';
import type { Source } from './source.ts';

type RowState = 'same' | 'differs' | 'noNode' | 'conflict' | 'refused' | 'missing';

/** A node's migration state and the planned action. */
export interface Row {
  readonly node: string;
  /** MultiNicNodeConfig name, with several objects the first; '' if none. */
  readonly object: string;
  readonly state: RowState;
  readonly action: 'none' | 'create' | 'release';
  /** The object's spec field managers; '' if none. */
  readonly writer: string;
  /** Refused field in the entry; '' if not refused. */
  readonly field: string;
  readonly message: string;
}

/** A row with the existing MultiNicNodeConfig and the desired object from the entry. */
export interface PlannedNode {
  readonly row: Row;
  readonly live: MultiNicNodeConfig | undefined;
  readonly desired: DesiredNode | undefined;
}

/** Compares source entries with the objects in the namespace. Pure. */
export function planOf(source: Source, { directory, nodes }: Observed): readonly PlannedNode[] {
  const only = (identity: NodeIdentity): MultiNicNodeConfig | undefined => {
    const [first, ...others] = directory.about(identity);
    return others.length === 0 ? first : undefined;
  };
  const entries = entriesOf(source.config, only);
  const ofEntries = entries.map((entry) =>
    plannedEntry(entry, directory.about(entry.identity), source, nodes),
  );
  const named = new Set(entries.flatMap(({ identity }) => directory.about(identity)));
  const others = directory.objects.filter((object) => !named.has(object));
  return [...ofEntries, ...others.flatMap((object) => withoutEntry(object, source))];
}

/**
 * Returns a row for a source object without an entry: the removal is held, or the source was edited while read-only.
 */
function withoutEntry(live: MultiNicNodeConfig, source: Source): PlannedNode[] {
  const { isLabelled, isExpansions } = ownershipOf(live, source);
  if (!isLabelled && !isExpansions) return [];
  const message = 'no entry names this node; its object and NICs stay';
  const judgement: Judged = { state: 'differs', message };
  return [{ row: rowOf(nodeNameOf(live), judgement, live, source), live, desired: undefined }];
}

function plannedEntry(
  entry: BizEntry,
  found: readonly MultiNicNodeConfig[],
  source: Source,
  nodes: NodeNames | undefined,
): PlannedNode {
  const desired = entry.kind === 'usable' ? entry.node : undefined;
  const [live] = found;
  const { position, identity } = entry;
  const node = identity.nodeName || `nodeConfigs[${position}]`;
  return { row: rowOf(node, judge(entry, found, source, nodes), live, source), live, desired };
}

interface Judged {
  readonly state: RowState;
  readonly field?: string;
  readonly message?: string;
}

function rowOf(
  node: string,
  { state, field = '', message = '' }: Judged,
  live: MultiNicNodeConfig | undefined,
  source: Source,
): Row {
  const object = live?.metadata.name ?? '';
  const writer = live ? writerOf(live, source) : '';
  return { node, object, state, action: actionOf(state, live, source), writer, field, message };
}

function actionOf(
  state: RowState,
  live: MultiNicNodeConfig | undefined,
  source: Source,
): Row['action'] {
  if (!live) return state === 'missing' || state === 'noNode' ? 'create' : 'none';
  const isReleased = ownershipOf(live, source).isLabelled && !live.metadata.deletionTimestamp;
  return isReleased ? 'release' : 'none';
}

function writerOf(live: MultiNicNodeConfig, source: Source): string {
  const { writers, isExpansions } = ownershipOf(live, source);
  return isExpansions ? fieldManagers.bizConfig : writers.join(', ');
}

function judge(
  entry: BizEntry,
  found: readonly MultiNicNodeConfig[],
  source: Source,
  nodes: NodeNames | undefined,
): Judged {
  if (entry.kind === 'refused') return { state: 'refused', ...entry.refusal };
  const [live] = found;
  const conflict = conflictOf(entry.node, found, source);
  if (conflict !== undefined) return { state: 'conflict', message: conflict };
  const missingNode = missingNodeOf(entry.identity, nodes);
  if (missingNode !== undefined) return { state: 'noNode', message: missingNode };
  if (!live) return { state: 'missing' };
  const difference = differenceOf(entry, live);
  return difference === undefined ? { state: 'same' } : { state: 'differs', message: difference };
}

/** Returns the reason the entry does not control the node; undefined if the entry does. */
function conflictOf(
  desired: DesiredNode,
  found: readonly MultiNicNodeConfig[],
  source: Source,
): string | undefined {
  const [live, other] = found;
  if (!live) return undefined;
  if (other) {
    const names = found.map(({ metadata }) => metadata.name).toSorted();
    return `objects ${names.join(' and ')} are for the same node: delete the wrong one`;
  }
  const { name } = live.metadata;
  const { isExpansions, writers } = ownershipOf(live, source);
  if (isExpansions || isSame(desired, live)) return undefined;
  const made = sourceIn(live.metadata);
  const writer = writers.join(', ') || (made ? `${made.group} ${made.name}` : 'another writer');
  return `${writer} writes object ${name}; its content stays, the entry is not applied`;
}

function missingNodeOf({ instanceId, nodeName }: NodeIdentity, nodes: NodeNames | undefined) {
  if (!nodes) return undefined;
  if (instanceId === undefined) {
    return nodes.names.has(nodeName) ? undefined : `no Node is named ${nodeName}`;
  }
  return nodes.systemUuids.has(instanceId)
    ? undefined
    : `no Node has the systemUUID ${instanceId} (attachedNodeId)`;
}

function differenceOf(
  { node, waiting }: Extract<BizEntry, { kind: 'usable' }>,
  live: MultiNicNodeConfig,
): string | undefined {
  if (live.metadata.deletionTimestamp) return 'the object is being deleted';
  if (waiting.length > 0) {
    return `${counted(waiting.length, 'NIC waits', 'NICs wait')} for a free index`;
  }
  if (isSame(node, live)) return undefined;
  const [has, wants] = [live.spec.interfaces ?? [], node.spec.interfaces ?? []];
  return `the object (${counted(has.length, 'NIC')}) differs from the entry (${counted(wants.length, 'NIC')})`;
}

function isSame({ spec }: DesiredNode, live: MultiNicNodeConfig): boolean {
  return spec.specHash === specHash(live.spec);
}
