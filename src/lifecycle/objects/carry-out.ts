import type { metricTable } from '../../api/metrics.ts';
import type { Reason } from '../../api/reasons.ts';
import { KubeError } from '../../kube/errors.ts';
import type { EventRecorder } from '../../kube/events.ts';
import type { KubeObject } from '../../kube/object.ts';
import { apiVersionOf } from '../../kube/resource.ts';
import type { Logger } from '../../process/log.ts';
import type { Metrics } from '../../process/metrics.ts';
import type { Problem } from '../model/accepted.ts';
import type { Desired } from '../model/desired.ts';
import type { Ensured, LostFields, Outcome } from '../model/outcome.ts';
import type { Observed, StagePlan } from '../model/stage.ts';
import { lostFieldsText } from '../recovery/lost-fields.ts';
import { mayRecover } from '../recovery/may-recover.ts';
import type { Applier, EnsuredObject } from './applier.ts';

/** Carries out a stage's plan; a failure stops only this stage and is retried. */
export type CarryOut = <Report>(
  observed: Observed,
  plan: StagePlan<Report>,
  signal: AbortSignal,
) => Promise<Outcome<Report>>;

export interface CarryOutDeps {
  readonly applier: Applier;
  readonly recorder: Pick<EventRecorder, 'record'>;
  readonly metrics: Pick<Metrics<typeof metricTable>, 'count'>;
  readonly log: Pick<Logger, 'warn' | 'info'>;
}

const reasons = {
  repaired: 'ObjectRecovered',
  drifted: 'RecoveryOff',
  contested: 'Contested',
} as const satisfies Partial<Record<Ensured, Reason>>;

export function createCarryOut({ applier, recorder, metrics, log }: CarryOutDeps): CarryOut {
  /** Reports cluster-scoped objects on the MultiNicOperator: lifecycle writes events in its namespace only. */
  function report(
    { operator, objects }: Observed,
    { resource, object }: Desired,
    { ensured, lost }: EnsuredObject,
  ): void {
    const name = `${resource.kind} ${object.metadata.name}`;
    if (ensured === 'unchanged') return;
    if (!lost || !(ensured in reasons)) return log.info({ object: name, ensured }, 'applied');
    const message = `${name}: ${lostFieldsText(lost)}`;
    if (ensured === 'repaired') {
      log.info({ object: name, ...lost }, 'repaired');
      metrics.count('multinic_operator_recoveries_total', { kind: resource.kind });
    }
    const apiVersion = apiVersionOf(resource);
    // Include the uid: `kubectl describe` finds events by uid.
    const { metadata } = objects.find(resource, object.metadata.name) ?? object;
    const involved: KubeObject = resource.namespaced
      ? { apiVersion, kind: resource.kind, metadata }
      : operator;
    const reason = reasons[ensured as keyof typeof reasons];
    recorder.record(involved, { type: 'Warning', reason, message });
  }

  return async (observed, plan, signal) => {
    const objects = new Map<string, Ensured>();
    const refusals: Problem[] = [];
    const losses = new Map<string, LostFields>();
    const waits: number[] = [];
    const recovers = mayRecover(observed);
    const soFar = () => ({
      plan: { ...plan, problems: [...plan.problems, ...refusals] },
      objects,
      lost: losses,
      ...(waits.length === 0 ? {} : { requeueAfterMs: Math.min(...waits) }),
    });
    try {
      await begin(applier, plan, signal);
      for (const wanted of plan.apply) {
        const name = `${wanted.resource.kind} ${wanted.object.metadata.name}`;
        const ensured = await applier
          .ensure(wanted, { recovers, signal })
          .catch((error: unknown) => refusalOf(wanted, error));
        if ('field' in ensured) {
          refusals.push(ensured);
          continue;
        }
        objects.set(name, ensured.ensured);
        if (ensured.lost) losses.set(name, ensured.lost);
        if (ensured.waitMs !== undefined) waits.push(ensured.waitMs);
        report(observed, wanted, ensured);
      }
      return soFar();
    } catch (error) {
      signal.throwIfAborted();
      log.warn({ err: error }, 'stage failed, retrying');
      return { ...soFar(), error };
    }
  };
}

/** Returns a problem for a refused object; rethrows all other errors. */
function refusalOf({ problemIfRefused }: Desired, error: unknown): Problem {
  const isRefused = error instanceof KubeError && (error.status === 403 || error.status === 422);
  if (!isRefused || !problemIfRefused) throw error;
  return problemIfRefused(error.message);
}

/** Runs the plan's steps before applying objects. */
async function begin(applier: Applier, plan: StagePlan, signal: AbortSignal): Promise<void> {
  if (plan.note) await applier.note(plan.note, signal);
  for (const ref of plan.stop ?? []) await applier.stop(ref, signal);
  for (const removal of plan.remove) await applier.remove(removal, signal);
  for (const one of plan.create ?? []) await applier.create(one, signal);
}
