import { expect, it } from 'vitest';
import type { ProblemReason } from '../../../plan/plan.ts';
import { problemsIn } from '../../flow/sync/problems.ts';

type Steps = Parameters<typeof problemsIn>[0];

/** Steps of a sync with one planned problem per node. */
function stepsWith(reason: ProblemReason, nodes: readonly { readonly nodeName: string }[]) {
  const problems = Array.from(nodes, (_, at) => {
    const subject = `node worker-${at}`;
    return { reason, subject, message: `${subject}: something is wrong` };
  });
  const none = { problems: [], flaws: [] };
  return {
    observed: { servers: none, subnets: none, cloud: none },
    plan: { problems },
    rounds: { problems: [], nodes, delivery: { failures: [] } },
    former: none,
    retrying: new Set(['s1']),
  } as unknown as Steps;
}

it.each<ProblemReason>(['InterfaceLimitExceeded', 'RemovalUnconfirmed'])(
  'problemsIn collects problems from 1,000 nodes with at most two reads per node name: %s',
  (reason) => {
    let reads = 0;
    const nodes = Array.from({ length: 1_000 }, (_, at) => ({
      instanceId: `s${at}`,
      get nodeName(): string {
        reads++;
        return `worker-${at}`;
      },
    }));
    const problems = problemsIn(stepsWith(reason, nodes));
    // An unconfirmed removal is not reported before its retries.
    expect(problems).toHaveLength(reason === 'RemovalUnconfirmed' ? 999 : 1_000);
    expect(reads).toBeLessThanOrEqual(2_000);
  },
);
