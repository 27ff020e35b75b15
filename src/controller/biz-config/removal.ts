import { findCondition } from '../../api/condition.ts';
import type { BizConfigStatus } from '../../api/multinicbizconfig.ts';
import { annotations } from '../../api/names.ts';
import { decideRemovals, removalLimits } from '../../api/removals.ts';
import type { BizConfig } from '../../biz-config/biz-config.ts';
import { type BizSource, sourceIn } from '../../biz-config/ownership.ts';
import type { NodeConfig } from '../objects/stores.ts';

/** Removals of one generation of a source that wait for a new value of the annotation. */
export interface WaitingRemovals {
  /** Names of the objects that lose NICs, or are to be deleted. */
  readonly names: readonly string[];
  /** Why they wait, for people. */
  readonly why: string;
}

export interface RemovalInput {
  readonly source: BizConfig;
  readonly marks: BizSource;
  /** Objects of the source that lose NICs by this generation. */
  readonly losing: readonly NodeConfig[];
  /** All objects of the source. */
  readonly total: number;
}

/**
 * Returns the removals of this generation that wait. An empty or absent list, and a source with another uid, may come from a
 * restore or a template that rendered nothing: no removal of them goes without consent.
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
    return { names, why: `${nodes}, more than the ${allowed} that may at once` };
  }
  if (waitsAlready) return { names, why: `${nodes}, the rest of removals that wait` };
  return { names, why: `${nodes}, and the source was created again under another uid` };
}

/** Whether removals of this generation wait: they do not go on their own when others of them are settled meanwhile. */
function isHeld({ metadata, status }: BizConfig): boolean {
  const held = findCondition(status?.conditions, 'RemovalHeld');
  return held?.status === 'True' && held.observedGeneration === metadata.generation;
}

type Handled = Pick<BizConfigStatus, 'allowedRemovals' | 'allowedRemovalsGeneration'>;

/** Whether the value of the annotation was stored for the removals of this generation. */
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
 * What the status stores about the annotation. A new value allows the removals of the generation at which it is handled, and is
 * stored before the first of them: after a kill it allows the rest of them, and those of no other generation. A value that an
 * object carries at its first status (of a restored object, for example) allows nothing, in read-only mode, too.
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

/** The annotation as it is stored; an API server stores no half of a character that a cut left over. */
function valueOf({ metadata }: BizConfig): string | undefined {
  return metadata.annotations?.[annotations.allowRemovals]?.slice(0, 128).toWellFormed();
}
