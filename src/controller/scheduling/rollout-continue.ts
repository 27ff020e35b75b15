import { rfc3339 } from '../../api/condition.ts';
import { annotations } from '../../api/names.ts';
import type { Applied, RolloutPhase } from '../jobs/applied.ts';
import type { NodeConfig } from '../objects/stores.ts';
import { sourceIn, sourceOf } from './revision.ts';
import { type Continued, continuedNow, isExcused } from './rollout.ts';
import type { RolloutNodes } from './rollout-nodes.ts';

export type ContinuedStatus = NonNullable<NonNullable<NodeConfig['status']>['rolloutContinued']>;

/** Unhandled value of `rollout-continue`; undefined: no new value. */
export function continuedBy(
  config: NodeConfig,
  records: Pick<RolloutNodes, 'continuedOf' | 'failuresOf'>,
  now: Date,
): ContinuedStatus | undefined {
  const value = valueOf(config);
  if (value === undefined || value === config.status?.rolloutContinued?.value) return undefined;
  const { uid } = sourceOf(config);
  // The same value on several objects is one decision by the source's user.
  const used = records.continuedOf(uid).find((one) => one.value === value);
  const failures = records.failuresOf(uid).map(({ at }) => at);
  return asStatus(used ?? continuedNow(value, now.getTime(), failures));
}

/** Returns a record without failures if a user continued the rollout after the run started. */
export function withoutExcused(
  record: Applied,
  records: Pick<RolloutNodes, 'continuedOf'>,
  now: Date,
): Applied {
  const { rollout, settings, ...rest } = record;
  const continued = records.continuedOf(sourceIn(rest.revision ?? ''));
  const isOver = (phase: RolloutPhase | undefined, at: string): boolean =>
    phase === 'failed' && isExcused(Date.parse(at), continued, now.getTime());
  return {
    ...rest,
    ...(rollout && !isOver(rollout, rest.at) ? { rollout } : {}),
    ...(settings ? { settings: settings.filter((run) => !isOver(run.rollout, run.at)) } : {}),
  };
}

/**
 * Returns the annotation value as the status stores it. A cut may leave half a surrogate pair, which an API server
 * drops.
 */
function valueOf({ metadata }: NodeConfig): string | undefined {
  return (
    metadata.annotations?.[annotations.rolloutContinue]?.slice(0, 64).toWellFormed() || undefined
  );
}

function asStatus({ value, at, until }: Continued): ContinuedStatus {
  return { value, at: timeOf(at), ...(until === undefined ? {} : { until: timeOf(until) }) };
}

function timeOf(ms: number): string {
  return rfc3339(new Date(ms));
}
