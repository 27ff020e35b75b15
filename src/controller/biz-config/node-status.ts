import { findCondition, shortMessage } from '../../api/condition.ts';
import { counted } from '../../api/counted.ts';
import type { BizNodeStatus } from '../../api/multinicbizconfig.ts';
import type { NodeConfigStatus } from '../../api/multinicnodeconfig.ts';
import { labels } from '../../api/names.ts';
import type { Reason } from '../../api/reasons.ts';
import { sourceIn } from '../../biz-config/ownership.ts';
import type { NodeConfig } from '../objects/stores.ts';
import type { PlannedNode } from './plan.ts';

/** An entry after its planned step. */
export interface NodeOutcome extends PlannedNode {
  /** Refusal by the API server; undefined: accepted or not attempted. */
  readonly failure?: string | undefined;
  /** True if the object is not written yet: its status is about an earlier spec. */
  readonly isOpen?: boolean;
}

/** Maximum message length per node: a thousand nodes share one object. */
const maxNodeMessage = 256;

/** Reasons of normal progress, already expressed by the state. */
const quiet: readonly (string | undefined)[] = [
  'AllInterfacesConfigured',
  'SpecChanged',
  'JobScheduled',
  'WaitingForTurn',
] satisfies Reason[];

/** A node entry with a state. */
type StatedNode = Omit<BizNodeStatus, 'state'> & {
  readonly state: NonNullable<BizNodeStatus['state']>;
};

/** Returns a node's entry in `status.nodeStatuses`; `held`: why removals wait. */
export function nodeStatusOf(node: NodeOutcome, held: string): StatedNode {
  const { attachedNodeId, attachedNodeName } = node.entry.entry;
  return defined({ attachedNodeId, attachedNodeName, ...stateOf(node, held) });
}

function stateOf(node: NodeOutcome, held: string): StatedNode {
  const { entry, object, step, failure, isOpen = false } = node;
  if (entry.kind === 'refused') {
    const { field, message } = entry.refusal;
    return { state: 'Failed', ...explanation('EntriesRefused', `${field}: ${message}`) };
  }
  if (failure !== undefined)
    return { state: 'Failed', ...explanation('NodeConfigRefused', failure) };
  const { reason, message, ...progress } = progressOf(object);
  if (step.kind === 'wins' && object) return { ...progress, ...wins(object) };
  if (step.kind === 'held') return { ...progress, ...explanation('RemovalHeld', held) };
  if (isOpen) return { ...progress, state: 'Pending' };
  const { waiting } = entry;
  if (waiting.length > 0) return { ...progress, state: 'Pending', ...waits(waiting.length) };
  return { ...progress, ...(reason === undefined ? {} : { reason, message }) };
}

function waits(count: number): Explanation {
  const text = `${counted(count, 'NIC waits', 'NICs wait')} for an index still used by a NIC that is being removed`;
  return explanation('WaitingForIndex', text);
}

/** Returns the object's state for its current spec. */
function progressOf(object: NodeConfig | undefined): StatedNode {
  const { status } = object ?? {};
  if (!status) return { state: 'Pending' };
  const { lastProcessed, lastJobName } = status;
  const isCurrent = status.observedGeneration === object?.metadata.generation;
  const state = isCurrent ? (status.state ?? 'Pending') : 'Pending';
  // The running Job is not the last Job yet.
  if (state === 'InProgress') return { state, lastProcessed: status.applied?.at ?? lastProcessed };
  return { state, lastProcessed, lastJobName, ...(isCurrent ? problemIn(status) : {}) };
}

function problemIn({ conditions }: NodeConfigStatus): Explanation {
  const ready = findCondition(conditions, 'Ready');
  if (!ready?.reason || quiet.includes(ready.reason)) return {};
  return explanation(ready.reason, ready.message ?? '');
}

function wins({ metadata }: NodeConfig): Explanation {
  const source = sourceIn(metadata);
  if (source && metadata.labels?.[labels.bizConfig] === undefined) {
    const text = `MultiNicNodeConfig ${metadata.name} no longer has the label ${labels.bizConfig}: another writer took the object over, or it was migrated`;
    return explanation('NodeConfigWins', text);
  }
  const writer = source ? `${source.group} MultiNicBizConfig ${source.name}` : 'another writer';
  return explanation('NodeConfigWins', `MultiNicNodeConfig ${metadata.name} belongs to ${writer}`);
}

type Explanation = Pick<BizNodeStatus, 'reason' | 'message'>;

function explanation(reason: string, message: string): Explanation {
  return { reason, message: shortMessage(message).slice(0, maxNodeMessage).toWellFormed() };
}

function defined<T extends object>(value: T): T {
  return Object.fromEntries(
    Object.entries(value).filter(([, inner]) => inner !== undefined && inner !== ''),
  ) as T;
}
