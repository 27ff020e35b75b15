import type { PathReader } from '../path/ip.ts';
import { type PathsBefore, pathsBefore } from '../path/paths.ts';
import type { PlanInput } from '../planning/candidates.ts';
import { isToChange, type WholePlan } from '../planning/plan.ts';
import { changesKernel } from '../planning/unit.ts';
import { type Connect, lostConnectivity, reachedTargets, type Target } from './connectivity.ts';
import type { Context } from './context.ts';

export interface BeforeChange {
  /** Undefined: nothing changes. */
  readonly paths?: PathsBefore;
  /** Addresses of the API server with an open port; empty if only files change. */
  readonly targets: readonly Target[];
}

interface Readers {
  readonly paths: PathReader;
  readonly tcp: Connect;
}

/** Looks up paths and connects to the API server, just before the first change. */
export async function beforeChange(
  plan: WholePlan,
  { request, state, host }: PlanInput,
  { paths, tcp }: Readers,
): Promise<BeforeChange> {
  if (!isToChange(plan)) return { targets: [] };
  const isForKernel = [...plan.removal.units, ...plan.apply.units].some(changesKernel);
  const [before, targets] = await Promise.all([
    pathsBefore({ request, state, host }, paths),
    isForKernel ? reachedTargets(request.apiServer, host, tcp) : [],
  ]);
  // For the lookups after the change.
  paths.start();
  return { paths: before, targets };
}

/** Returns the comparison after a change; none if nothing answered before. */
export function connectivityAfter(
  { targets }: BeforeChange,
  { tcp }: Pick<Readers, 'tcp'>,
  { clock }: Pick<Context, 'clock'>,
): Pick<Context, 'connectivity'> {
  if (targets.length === 0) return {};
  return { connectivity: () => lostConnectivity(targets, tcp, clock) };
}
