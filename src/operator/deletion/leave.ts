import type { KubeClient } from '../../kube/client/client.ts';
import type { Outcome } from '../../kube/reconcile/controller.ts';
import type { Logger } from '../../process/log.ts';
import { removeFinalizer } from '../finalizer.ts';
import { type ConfigObject, hasFinalizer, ownerOf } from '../openstack-config.ts';
import type { Pace } from '../schedule/pace.ts';
import { pollingOf } from '../settings.ts';
import { attempt } from '../status/attempt.ts';
import { StepFailure } from '../status/step-failure.ts';
import type { StatusWriter } from '../status/writer.ts';
import { type FinishDeps, finish } from './finish.ts';

export interface LeaveDeps extends FinishDeps {
  readonly client: Pick<KubeClient, 'patch'>;
  readonly writer: StatusWriter;
  readonly pace: Pace;
  readonly log: Logger;
}

/** Lets a deleted object go as soon as nothing of it is left on any node; until then it says which nodes are not clean. */
export async function leave(
  object: ConfigObject,
  deps: LeaveDeps,
  signal: AbortSignal,
): Promise<Outcome | undefined> {
  const { settings, pace, log, writer } = deps;
  if (!hasFinalizer(object)) return undefined;
  const left = await attempt(async () => finish(object, deps, signal), log, signal);
  if (left instanceof StepFailure) {
    await writer.write(object, { kind: 'deleting', troubles: [left], waiting: [] }, signal);
    return { requeueAfterMs: pace.afterFailure(object, pollingOf(settings), left.retryAfterMs) };
  }
  const { nodes, open } = left;
  const waiting = [
    ...nodes.map(({ nodeName }) => nodeName),
    ...open.map(
      ({ providerId }) => `what was sent to business cluster ${providerId} and may still arrive`,
    ),
  ];
  if (waiting.length > 0) {
    await writer.write(object, { kind: 'deleting', troubles: [], waiting }, signal);
    const requeueAfterMs =
      nodes.length > 0 ? pace.afterCleanup(object) : Math.max(...open.map(({ ms }) => ms));
    return { requeueAfterMs };
  }
  await deps.inventory.forget(ownerOf(object));
  await removeFinalizer(object, deps, signal);
  return undefined;
}
