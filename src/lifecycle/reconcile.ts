import { refOf } from '../kube/object.ts';
import type { Outcome as Requeue } from '../kube/reconcile/controller.ts';
import { type Backoff, backoffMs } from '../time/backoff.ts';
import type { Clock, Random } from '../time/clock.ts';
import type { Deletion } from './deletion/deletion.ts';
import type { Outcome, Outcomes } from './model/outcome.ts';
import type { Observed } from './model/stage.ts';
import type { Applier } from './objects/applier.ts';
import type { CarryOut } from './objects/carry-out.ts';
import type { Observe } from './objects/observe.ts';
import { accept } from './stages/accept/accept.ts';
import { backup } from './stages/backup/backup.ts';
import { credentials } from './stages/credentials/credentials.ts';
import { newPassword } from './stages/credentials/password.ts';
import { database } from './stages/database/database.ts';
import { controller } from './stages/managed-controller/managed-controller.ts';
import { operation } from './stages/operation/stage.ts';
import type { BreakGlassAnnouncer } from './stages/protection/break-glass.ts';
import { protection, type WebhookAccess } from './stages/protection/protection.ts';
import { triggers } from './stages/triggers/triggers.ts';
import type { StatusWriter } from './status/writer.ts';

export interface ReconcileDeps {
  readonly observe: Observe;
  readonly applier: Pick<Applier, 'retain'>;
  readonly carryOut: CarryOut;
  readonly deletion: Deletion;
  readonly status: StatusWriter;
  readonly webhook: () => WebhookAccess;
  readonly breakGlass: Pick<BreakGlassAnnouncer, 'note'>;
  readonly clock: Clock;
  readonly random: Random;
}

/** Retry delays for a failed stage, or for a stage blocked by an unwatched object. */
const again: Backoff = { baseMs: 1_000, maxMs: 60_000 };

interface Retry {
  readonly failures: number;
  readonly atMs: number;
}

/** Reconciles a MultiNicOperator's installation with its spec. */
export function createReconcile(deps: ReconcileDeps) {
  const { observe, applier, carryOut, deletion, status, webhook, breakGlass, clock, random } = deps;
  let retry: Retry | undefined;

  return async (key: string, signal: AbortSignal): Promise<Requeue> => {
    const observation = await observe(key, accept, signal);
    if (observation.what === 'gone') {
      await deletion.clean(refOf(key), signal);
      return {};
    }
    if (observation.what === 'leaving') return deletion.finish(observation.operator, signal);
    if (observation.what === 'refused') return status.refuse(observation, signal);
    const { observed } = observation;
    await deletion.addFinalizer(observed.operator, signal);
    breakGlass.note(observed);
    const outcomes = await stages(observed, signal);
    applier.retain(Object.values<Outcome>({ ...outcomes }).flatMap(({ plan }) => plan.apply));
    await status.write(observed, outcomes, signal);
    return soonest(outcomes, retryMs(outcomes));
  };

  /**
   * Returns milliseconds until the next retry; undefined: no stage failed or is blocked. An earlier reconcile does not
   * postpone the retry.
   */
  function retryMs(outcomes: Outcomes): number | undefined {
    const isBlocked = Object.values<Outcome>({ ...outcomes }).some(isStopped);
    const now = clock.monotonicMs();
    if (!isBlocked) {
      retry = undefined;
      return undefined;
    }
    if (!retry || now >= retry.atMs) {
      const failures = retry ? retry.failures + 1 : 0;
      retry = { failures, atMs: now + backoffMs(failures, again, random) };
    }
    return retry.atMs - now;
  }

  /** Stages are independent: a failed stage blocks no other stage. */
  async function stages(observed: Observed, signal: AbortSignal): Promise<Outcomes> {
    return {
      operation: await carryOut(observed, operation(observed), signal),
      credentials: await carryOut(observed, credentials(observed, newPassword), signal),
      database: await carryOut(observed, database(observed), signal),
      backup: await carryOut(observed, backup(observed), signal),
      controller: await carryOut(observed, controller(observed), signal),
      triggers: await carryOut(observed, triggers(observed), signal),
      protection: await carryOut(observed, protection(observed, webhook()), signal),
    };
  }
}

function isStopped({ error, plan: { problems, notices } }: Outcome): boolean {
  const isStalled = notices.some(({ condition }) => condition === 'Stalled');
  return error !== undefined || problems.length > 0 || isStalled;
}

function soonest(outcomes: Outcomes, retry: number | undefined): Requeue {
  const all = Object.values<Outcome>({ ...outcomes });
  const planned = all.flatMap(({ plan, requeueAfterMs }) => [plan.requeueAfterMs, requeueAfterMs]);
  const times = [...planned, retry].filter((ms) => ms !== undefined);
  return times.length === 0 ? {} : { requeueAfterMs: Math.min(...times) };
}
