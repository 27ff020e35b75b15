import { findCondition } from '../../api/condition.ts';
import type { BizConfigStatus } from '../../api/multinicbizconfig.ts';
import { annotations } from '../../api/names.ts';
import { decideRemovals, removalLimits } from '../../api/removals.ts';
import type { BizConfig } from '../../biz-config/biz-config.ts';
import { type BizSource, sourceIn } from '../../biz-config/ownership.ts';
import type { NodeConfig } from '../objects/stores.ts';

/** Removals in one source generation that wait for a new annotation value. */
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
  /** Number of all objects of the source. */
  readonly total: number;
}

/**
 * Returns the removals in this generation that wait. An empty or absent list, and a source with another uid, may come
 * from a restore or an empty template: such removals always need consent.
 */
export function waitingRemovals({ source, marks, losing, total }: RemovalInput): WaitingRemovals {
  const isEmpty = (source.spec?.nodeConfigs ?? []).length === 0;
  const isOfOtherUid = ({ metadata }: NodeConfig) => sourceIn(metadata)?.uid !== marks.uid;
  const hasConsent = isAllowed(source);
  const waitsAlready = isHeld(source);
  const { held, count, allowed } = decideRemovals({
    removals: losing.map((config) => ({
      item: config.metadata.name,
      basis: isEmpty || waitsAlready || isOfOtherUid(config) ? 'sideEffect' : 'named',
      hasConsent,
    })),
    recent: [],
    total,
    limit: removalLimits.nodesOfSource,
  });
  const names = losing.map(({ metadata }) => metadata.name).filter((name) => held.has(name));
  const nodes = `${losing.length} of ${total} nodes would lose NICs`;
  if (isEmpty) return { names, why: `${nodes} because nodeConfigs is empty or absent` };
  if (count > allowed) {
    return { names, why: `${nodes}, more than the ${allowed} allowed at once` };
  }
  if (waitsAlready)
    return { names, why: `${nodes}, the rest of the removals that wait for confirmation` };
  return { names, why: `${nodes}, and the MultiNicBizConfig was recreated with another uid` };
}

/** True if removals in this generation are held: they stay held even if some of them are settled meanwhile. */
function isHeld({ metadata, status }: BizConfig): boolean {
  const held = findCondition(status?.conditions, 'RemovalHeld');
  return held?.status === 'True' && held.observedGeneration === metadata.generation;
}

type Handled = Pick<BizConfigStatus, 'allowedRemovals' | 'allowedRemovalsGeneration'>;

/** True if the annotation value was stored for this generation's removals. */
export function isAllowed(source: BizConfig): boolean {
  const { allowedRemovals, allowedRemovalsGeneration } = source.status ?? {};
  const value = valueOf(source);
  return (
    value !== undefined &&
    value === allowedRemovals &&
    allowedRemovalsGeneration === source.metadata.generation
  );
}

/**
 * Returns the status fields for the annotation. A new value allows the current generation's removals and is stored
 * before the first removal: after a crash it allows the rest, and no other generation's removals. A value already
 * present at the first status (for example on a restored object) allows nothing, even in read-only mode.
 */
export function handledRemovals(source: BizConfig, isFollowed: boolean): Handled {
  const { status } = source;
  const { allowedRemovals, allowedRemovalsGeneration } = status ?? {};
  const value = valueOf(source);
  const isNew = value !== undefined && value !== allowedRemovals;
  const isFirst = status?.observedGeneration === undefined;
  if (!isNew || !(isFollowed || isFirst)) return { allowedRemovals, allowedRemovalsGeneration };
  return {
    allowedRemovals: value,
    allowedRemovalsGeneration: isFirst ? undefined : source.metadata.generation,
  };
}

/** Returns the annotation value as stored; an API server drops half a surrogate pair left by a cut. */
function valueOf({ metadata }: BizConfig): string | undefined {
  return metadata.annotations?.[annotations.allowRemovals]?.slice(0, 128).toWellFormed();
}
