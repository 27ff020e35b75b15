import type { KubeClient } from '../kube/client/client.ts';
import type { Outcome } from '../kube/reconcile/controller.ts';
import type { Logger } from '../process/log.ts';
import type { Clock } from '../time/clock.ts';
import { removeFinalizer } from './finalizer.ts';
import { type FinishDeps, finish } from './finish.ts';
import {
  type ConfigObject,
  generationOf,
  hasFinalizer,
  ownerOf,
  statusOf,
} from './openstack-config.ts';
import type { Pace } from './pace.ts';
import type { Reporter } from './report.ts';
import { pollingOf } from './settings.ts';
import { attempt } from './status/attempt.ts';
import { statusAfter } from './status/status.ts';
import { StepFailure } from './status/step-failure.ts';
import type { Verdict } from './status/verdict.ts';

export interface LeaveDeps extends FinishDeps {
  readonly client: Pick<KubeClient, 'patch'>;
  readonly reporter: Reporter;
  readonly pace: Pace;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Lets a deleted object go as soon as nothing of it is left on any node; until then it says which nodes are not clean. */
export async function leave(
  object: ConfigObject,
  deps: LeaveDeps,
  signal: AbortSignal,
): Promise<Outcome | undefined> {
  const { settings, pace, log } = deps;
  if (!hasFinalizer(object)) return undefined;
  const left = await attempt(async () => finish(object, deps, signal), log, signal);
  if (left instanceof StepFailure) {
    await report(object, { kind: 'deleting', troubles: [left], waiting: [] }, deps, signal);
    return { requeueAfterMs: pace.afterFailure(object, pollingOf(settings), left.retryAfterMs) };
  }
  if (left.length > 0) {
    const waiting = left.map(({ nodeName }) => nodeName);
    await report(object, { kind: 'deleting', troubles: [], waiting }, deps, signal);
    return { requeueAfterMs: pace.afterCleanup(object) };
  }
  await deps.inventory.forget(ownerOf(object));
  await removeFinalizer(object, deps, signal);
  return undefined;
}

async function report(
  object: ConfigObject,
  verdict: Verdict,
  { reporter, settings, clock }: LeaveDeps,
  signal: AbortSignal,
): Promise<void> {
  const { downPortFastRetryMax } = settings;
  const seen = { verdict, result: undefined, previous: statusOf(object), handled: {} };
  const at = { generation: generationOf(object), now: clock.now() };
  await reporter.report(object, statusAfter({ ...seen, ...at, downPortFastRetryMax }), signal);
}
