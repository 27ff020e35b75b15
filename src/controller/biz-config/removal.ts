import { findCondition, rfc3339 } from '../../api/condition.ts';
import type { BizConfigStatus, BizNodeStatus } from '../../api/multinicbizconfig.ts';
import { annotations } from '../../api/names.ts';
import { isConsentOpen } from '../../api/removal-consent.ts';
import {
  allowedIn,
  type BudgetUse,
  decideRemovals,
  exceededBudget,
  type HoldCode,
  holdCodeOf,
  type RemovalBasis,
} from '../../api/removals.ts';
import type { BizConfig } from '../../biz-config/biz-config.ts';
import { type BizSource, sourceIn } from '../../biz-config/ownership.ts';
import { instanceIdOf, type NodeConfig, nodeNameOf } from '../objects/stores.ts';

/** Removals in a source generation waiting for a new annotation value. */
export interface WaitingRemovals {
  /** Names of objects losing NICs or planned for deletion. */
  readonly names: readonly string[];
  /** Reason for the wait, for users. */
  readonly why: string;
}

export interface RemovalInput {
  readonly source: BizConfig;
  readonly marks: BizSource;
  /** Objects of the source losing NICs in this generation. */
  readonly losing: readonly NodeConfig[];
  /** Objects whose removals the controller holds. */
  readonly blocked: readonly NodeConfig[];
  /** Number of all objects of the source. */
  readonly total: number;
  /** True if a user consented to this generation's removals. */
  readonly hasConsent: boolean;
  /** Budgets of the business cluster, with these removals. */
  readonly budgets: readonly BudgetUse[];
  /** Why the removals of the last hour are unknown; undefined: known. */
  readonly unknown: string | undefined;
}

/**
 * Returns the removals in this generation that wait. An empty or absent list, and a source with another uid, may come
 * from a restore or an empty template: such side effects need consent. Other removals are named and wait above the
 * budget: an edit of the list can still undo them here, a deleted object cannot come back.
 */
export function waitingRemovals(input: RemovalInput): WaitingRemovals {
  const { source, marks, losing, total, hasConsent, budgets, unknown } = input;
  const isEmpty = (source.spec?.nodeConfigs ?? []).length === 0;
  const isOfOtherUid = ({ metadata }: NodeConfig) => sourceIn(metadata)?.uid !== marks.uid;
  const basisOf = (config: NodeConfig): RemovalBasis => {
    if (hasConsent) return 'consent';
    return isEmpty || isOfOtherUid(config) ? 'sideEffect' : 'named';
  };
  const removals = losing.map((config) => ({
    name: config.metadata.name,
    basis: basisOf(config),
  }));
  // Removals with a new annotation value start once the status shows the value as handled.
  const wasHeld = isHeld(source, [...losing, ...input.blocked]);
  const isOver = wasHeld || unknown !== undefined;
  const limit = hasNewValue(source) ? { budgets: [] } : { budgets, isHeld: isOver };
  const { held } = decideRemovals(removals, limit);
  const names = held.map(({ removal }) => removal.name);
  const nodes = `${names.length} of ${total} nodes would lose NICs`;
  if (isEmpty) return { names, why: `${nodes} because nodeConfigs is empty or absent` };
  if (held.some(({ code }) => code === 'OverBudget')) {
    if (unknown === undefined || wasHeld) return { names, why: `${nodes}, ${overText(budgets)}` };
    return { names, why: `${notCounted}${nodes}, and ${unknown}` };
  }
  return { names, why: `${nodes}, and the MultiNicBizConfig was recreated with another uid` };
}

function overText(budgets: readonly BudgetUse[]): string {
  const use = exceededBudget(budgets);
  if (!use) return 'the rest of the removals that wait for confirmation';
  const unit = use.scope === 'clusterNodes' ? 'nodes' : 'NICs';
  return `more than the ${allowedIn(use)} of ${use.total} ${unit} in the cluster that need no consent within an hour (${use.used} in all)`;
}

/** Begins the message of removals that wait only until they can be counted. */
const notCounted = 'NotCounted: ' satisfies `${HoldCode}: `;

/** True if removals are held and none was undone, also after edits elsewhere in the source. */
function isHeld({ metadata, status }: BizConfig, waiting: readonly NodeConfig[]): boolean {
  const held = findCondition(status?.conditions, 'RemovalHeld');
  if (held?.status !== 'True' || holdCodeOf(held.message) === 'NotCounted') return false;
  if (held.observedGeneration === metadata.generation) return true;
  const before = (status?.nodeStatuses ?? []).filter(({ reason }) => reason === 'RemovalHeld');
  return before.every((node) => waiting.some((config) => isFor(config, node)));
}

/** True if the object is for the node of this entry, by instance id or name. */
function isFor(config: NodeConfig, { attachedNodeId, attachedNodeName }: BizNodeStatus): boolean {
  const id = attachedNodeId?.trim().toLowerCase();
  return id ? instanceIdOf(config) === id : nodeNameOf(config) === attachedNodeName;
}

type Handled = Pick<
  BizConfigStatus,
  'allowedRemovals' | 'allowedRemovalsGeneration' | 'allowedRemovalsAt'
>;

/**
 * Returns the time of a user's consent to this generation's removals; undefined: none, or older than an hour. The time
 * is from the status: neither a retry nor a restart renews it.
 */
export function openConsent(source: BizConfig, now: Date): string | undefined {
  const { allowedRemovals, allowedRemovalsGeneration, allowedRemovalsAt } = source.status ?? {};
  const value = valueOf(source);
  const isAllowed =
    value !== undefined &&
    value === allowedRemovals &&
    allowedRemovalsGeneration === source.metadata.generation;
  return isAllowed && allowedRemovalsAt !== undefined && isConsentOpen(allowedRemovalsAt, now)
    ? allowedRemovalsAt
    : undefined;
}

/** True if the annotation has a value that the status does not show as handled. */
export function hasNewValue(source: BizConfig): boolean {
  const value = valueOf(source);
  return value !== undefined && value !== source.status?.allowedRemovals;
}

/**
 * Returns the status fields for the annotation. A new value allows the current generation's removals and is stored
 * before the first removal: after a crash it allows the rest, and no other generation's removals. A value already
 * present at the first status (for example on a restored object) allows nothing, even in read-only mode.
 */
export function handledRemovals(source: BizConfig, isFollowed: boolean, now: Date): Handled {
  const { status } = source;
  const { allowedRemovals, allowedRemovalsGeneration, allowedRemovalsAt } = status ?? {};
  const isFirst = status?.observedGeneration === undefined;
  if (!hasNewValue(source) || !(isFollowed || isFirst)) {
    return { allowedRemovals, allowedRemovalsGeneration, allowedRemovalsAt };
  }
  return {
    allowedRemovals: valueOf(source),
    allowedRemovalsGeneration: isFirst ? undefined : source.metadata.generation,
    allowedRemovalsAt: isFirst ? undefined : rfc3339(now),
  };
}

/** Returns the annotation value as stored; an API server drops half a surrogate pair left by a cut. */
function valueOf({ metadata }: BizConfig): string | undefined {
  return metadata.annotations?.[annotations.allowRemovals]?.slice(0, 128).toWellFormed();
}
