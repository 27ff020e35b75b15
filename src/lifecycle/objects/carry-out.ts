import { KubeError } from '../../kube/errors.ts';
import type { Logger } from '../../process/log.ts';
import type { Problem } from '../accept/accepted.ts';
import type { Outcome } from '../outcome.ts';
import type { Observed, StagePlan } from '../stage.ts';
import type { Applier, Ensured } from './applier.ts';
import type { Desired } from './desired.ts';

/** Carries out the plan of a stage; what fails ends this stage alone, and is tried again. */
export type CarryOut = <Report>(
  observed: Observed,
  plan: StagePlan<Report>,
  signal: AbortSignal,
) => Promise<Outcome<Report>>;

export interface CarryOutDeps {
  readonly applier: Applier;
  readonly log: Pick<Logger, 'warn' | 'info'>;
}

export function createCarryOut({ applier, log }: CarryOutDeps): CarryOut {
  return async (observed, plan, signal) => {
    const objects = new Map<string, Ensured>();
    const refusals: Problem[] = [];
    const { protection } = observed.accepted;
    const recovers = protection.value?.recovers ?? false;
    try {
      await begin(applier, plan, signal);
      for (const wanted of plan.apply) {
        const name = `${wanted.resource.kind} ${wanted.object.metadata.name}`;
        const ensured = await applier
          .ensure(wanted, { recovers, signal })
          .catch((error: unknown) => refusalOf(wanted, error));
        if (typeof ensured !== 'string') {
          refusals.push(ensured);
          continue;
        }
        objects.set(name, ensured);
        if (ensured !== 'unchanged' && ensured !== 'drifted')
          log.info({ object: name, ensured }, 'applied');
      }
      return { plan: { ...plan, problems: [...plan.problems, ...refusals] }, objects };
    } catch (error) {
      signal.throwIfAborted();
      log.warn({ err: error }, 'a stage failed, tried again');
      return { plan, objects, error };
    }
  };
}

/** Throws what is no refusal of the API server, or has no field to blame. */
function refusalOf({ problemIfRefused }: Desired, error: unknown): Problem {
  const isRefused = error instanceof KubeError && (error.status === 403 || error.status === 422);
  if (!isRefused || !problemIfRefused) throw error;
  return problemIfRefused(error.message);
}

/** What a plan does before it applies objects. */
async function begin(applier: Applier, plan: StagePlan, signal: AbortSignal): Promise<void> {
  for (const ref of plan.stop ?? []) await applier.stop(ref, signal);
  for (const removal of plan.remove) await applier.remove(removal, signal);
  for (const one of plan.create ?? []) await applier.create(one, signal);
}
