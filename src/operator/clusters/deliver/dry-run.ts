import type { PostAnswer } from '../../../api/node-configs-http.ts';
import type { PlanView } from '../../../api/read-http.ts';
import type { NodePlan } from '../../../plan/plan.ts';
import { isRequestError } from '../../../requests/request-error.ts';
import { StepFailure } from '../../model/step-failure.ts';
import { type Author, postsOf } from './deliver.ts';
import type { ViolaClient } from './viola-client.ts';

type DryRun = NonNullable<PlanView['dryRun']>;

/** Validates the plan's posts in the business cluster through Viola, without writes. Deletions are not validated. */
export async function dryRun(
  nodes: readonly NodePlan[],
  { viola, ...author }: Author & { readonly viola: Pick<ViolaClient, 'dryRun'> },
  signal: AbortSignal,
): Promise<DryRun> {
  const answer: PostAnswer = { applied: 0, results: [], errors: [] };
  try {
    for (const chunk of postsOf(nodes, author)) {
      const part = await viola.dryRun(chunk, signal);
      if (part === undefined) return notValidated('it has no dry run; upgrade Viola');
      answer.applied += part.applied;
      answer.results.push(...part.results);
      answer.errors.push(...part.errors);
    }
    return { validated: true, message: '', answer };
  } catch (error) {
    signal.throwIfAborted();
    // A Viola without mode Observe is reported beside the plan.
    if (!isRequestError(error) && !(error instanceof StepFailure)) throw error;
    return notValidated(error.message);
  }
}

function notValidated(why: string): DryRun {
  return { validated: false, message: `not validated by Viola: ${why}` };
}
