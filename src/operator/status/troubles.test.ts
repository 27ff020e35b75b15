import { expect, it } from 'vitest';
import type { ProblemReason } from '../../plan/plan.ts';
import { troublesIn } from '../sync/troubles.ts';

type Steps = Parameters<typeof troublesIn>[0];

/** A look whose plan has a problem with each of its nodes. */
function stepsWith(reason: ProblemReason, nodes: readonly { readonly nodeName: string }[]) {
  const problems = Array.from(nodes, (_, at) => {
    const subject = `node worker-${at}`;
    return { reason, subject, message: `${subject}: something is wrong` };
  });
  const none = { troubles: [], flaws: [] };
  return {
    seen: { servers: none, subnets: none, look: none },
    plan: { problems },
    rounds: { problems: [], nodes, delivery: { failures: [] } },
    others: none,
    asking: new Set(['s1']),
  } as unknown as Steps;
}

it.each<ProblemReason>(['InterfaceLimitExceeded', 'RemovalUnconfirmed'])(
  'is made of the problems of thousands of nodes with a few looks at each: %s',
  (reason) => {
    let looks = 0;
    const nodes = Array.from({ length: 1_000 }, (_, at) => ({
      instanceId: `s${at}`,
      get nodeName(): string {
        looks++;
        return `worker-${at}`;
      },
    }));
    const told = troublesIn(stepsWith(reason, nodes));
    // Of a doubtful removal at a server that Nova is asked about again nothing is told yet.
    expect(told).toHaveLength(reason === 'RemovalUnconfirmed' ? 999 : 1_000);
    expect(looks).toBeLessThanOrEqual(2_000);
  },
);
