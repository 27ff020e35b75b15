import type { PlanView } from '../../../api/read-http.ts';
import { HttpProblem } from '../../../http/problem.ts';
import { KubeError } from '../../../kube/errors.ts';
import { keyOf } from '../../../kube/object.ts';
import { calculateInSteps } from '../../../plan/calculate.ts';
import { inSlices } from '../../../process/slices.ts';
import { type LoginDeps, logIn } from '../../cloud/login.ts';
import type { CloudViews } from '../../cloud/observe/cloud-view.ts';
import { dryRun } from '../../clusters/deliver/dry-run.ts';
import { whatIfContext } from '../../flow/sync/context.ts';
import { type ObserveAndPlanDeps, observeAndPlan } from '../../flow/sync/observe-and-plan.ts';
import type { PlanDeps } from '../../flow/sync/plan-nodes.ts';
import type { ConfigObject } from '../../model/openstack-config.ts';
import { resolveConfig } from '../../model/resolve/resolve.ts';
import { StepFailure } from '../../model/step-failure.ts';
import { type PlanContext } from '../../model/sync-context.ts';
import { type Edit, editedObject, isEmptyEdit, refused } from './edit.ts';
import { InProgress } from './in-progress.ts';
import { datedPlan, planViewInSteps } from './plan-view.ts';

export type WhatIfDeps = LoginDeps &
  Omit<ObserveAndPlanDeps, 'plans'> & { readonly views: Pick<CloudViews, 'visit'> };

export type WhatIf = (object: ConfigObject, edit: Edit, signal: AbortSignal) => Promise<PlanView>;

/**
 * Creates the what-if: a sync's first half for an edited OpenstackConfig, without a sync's effects. Throws HttpProblem:
 * 422 for an unusable edit, 429 during a second what-if for the same cloud, 503 when a service fails.
 */
export function createWhatIf(deps: WhatIfDeps): WhatIf {
  const inProgress = new InProgress();
  const planDeps = { ...deps, plans: uncached(deps) };

  async function plan(context: PlanContext, edit: Edit, signal: AbortSignal): Promise<PlanView> {
    const login = await logIn(context, deps, signal);
    return inProgress.alone(`cloud ${login.cloud.name}`, async () => {
      const visit = deps.views.visit(login.cloud);
      try {
        const planned = await observeAndPlan(context, { ...login, ...visit }, planDeps, signal);
        const { connections, source, config } = planned;
        const { observes } = config.viola;
        const { nodes } = planned.planned.plan;
        const shown = isEmptyEdit(edit) ? undefined : edit;
        const [view, validation] = await Promise.all([
          inSlices(planViewInSteps(planned, shown), deps.clock, signal),
          dryRun(nodes, { viola: connections.viola, source, observes }, signal),
        ]);
        return { ...datedPlan(view, deps.clock.now()), dryRun: validation };
      } finally {
        visit.end();
      }
    });
  }

  return async (object, edit, signal) => {
    const edited = editedObject(object, edit);
    const resolution = resolveConfig(edited, deps.settings);
    if (resolution.kind === 'refused') throw refused(resolution.problems);
    const context = whatIfContext({ object: edited, config: resolution.config }, deps.clock);
    return inProgress.alone(`OpenstackConfig ${keyOf(object)}`, async () => {
      return plan(context, edit, signal).catch(asProblem);
    });
  };
}

/** Plans without the syncs' cache. */
function uncached({ clock }: WhatIfDeps): PlanDeps['plans'] {
  return {
    plan: async (_key, input, signal) => inSlices(calculateInSteps(input), clock, signal),
  };
}

/** Throws a failed step as a problem with the step's reason. */
function asProblem(cause: unknown): never {
  if (cause instanceof KubeError) {
    const detail = `the management cluster does not answer: ${cause.message}`;
    throw new HttpProblem(503, 'ApiServerError', detail, { retryAfterSeconds: 5, cause });
  }
  if (!(cause instanceof StepFailure)) throw cause;
  const { reason, message, retryAfterMs = 5_000 } = cause;
  const retryAfterSeconds = Math.ceil(retryAfterMs / 1000);
  throw new HttpProblem(503, reason, message, { retryAfterSeconds, cause });
}
