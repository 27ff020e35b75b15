import type { Node } from '../../kube/core-resources.ts';
import { keyOf } from '../../kube/object.ts';
import { nodeEventsOf } from '../jobs/node-events.ts';
import type { RecordAges } from '../jobs/record-ages.ts';
import type { NodeEvents } from '../jobs/runner.ts';
import type { NodeConfig } from '../objects/stores.ts';
import type { CheckBasis } from './check-basis.ts';
import type { Confirmations } from './confirmations.ts';
import { checkTimesOf, contentOfCheck, type Due, dueIn, dueOn, pauseOf } from './drift.ts';
import type { StartedChecks } from './started-checks.ts';

/** When the next check of a node is due, and its content. */
interface CheckDue {
  readonly occasion: NodeEvents;
  readonly content: string;
  /** Undefined: no check is due now. */
  readonly due: Due | undefined;
  readonly dueInMs: number;
}

interface CheckDueOptions {
  /** Ages of the last checks. */
  readonly checkAges: Pick<RecordAges, 'of'>;
  readonly confirmations: Confirmations;
  readonly startedChecks: StartedChecks;
  /** Returns the pause between two checks of a node, without jitter. */
  readonly intervalMs: () => number;
}

/** An object with its Node and the basis for a check. */
interface CheckedConfig {
  readonly config: NodeConfig;
  readonly node: Node;
  readonly basis: CheckBasis;
}

export function checkDue(
  { config, node, basis }: CheckedConfig,
  { checkAges, confirmations, startedChecks, intervalMs }: CheckDueOptions,
): CheckDue {
  const { applied, isNew } = basis;
  const key = keyOf(config);
  const occasion = nodeEventsOf(config, node);
  const recordAgeMs = checkAges.of(key, checkTimesOf(applied));
  const pauseMs = pauseOf(applied, intervalMs());
  confirmations.assume(key, applied, { recordMs: recordAgeMs, intervalMs: pauseMs });
  const confirmed = confirmations.since(key, applied);
  const ageMs = Math.min(recordAgeMs, confirmed?.ageMs ?? Infinity);
  const sinceCheckMs = applied.checkedAt === undefined ? Infinity : ageMs;
  const lastCheckMs = Math.min(sinceCheckMs, startedChecks.ageMs(key));
  const age = { ageMs, intervalMs: intervalMs(), lastCheckMs };
  const content = contentOfCheck(applied, occasion, confirmed?.at, basis.content);
  const isUnderWay = startedChecks.has(key, content);
  const due = dueOn(applied, occasion, isUnderWay ? { ...age, lastCheckMs: Infinity } : age);
  return {
    occasion,
    content,
    due: isNew ? 'contents' : due,
    dueInMs: dueIn(applied, occasion, age),
  };
}
