import type { OperatorReason } from '../../api/reasons.ts';
import type { Plan, Problem } from '../../plan/plan.ts';
import { compareText } from '../../plan/view.ts';
import type { FormerClusters } from '../deletion/former-clusters.ts';
import type { Rounds } from '../deliver/delivery-rounds.ts';
import type { Observed } from '../observe/observe.ts';
import type { Trouble } from '../status/step-failure.ts';
import type { SyncResult } from './result.ts';

interface Steps extends Pick<SyncResult, 'asking'> {
  readonly observed: Observed;
  readonly plan: Plan;
  readonly rounds: Rounds;
  readonly former: FormerClusters;
}

/** Returns the problems of a sync in the order of the steps. */
export function troublesIn(steps: Steps): readonly Trouble[] {
  const { observed, plan, rounds, former } = steps;
  const { servers, subnets, cloud } = observed;
  const read = [...servers.troubles, ...cloud.troubles];
  const flaws = [
    ...new Map([...servers.flaws, ...cloud.flaws].map((flaw) => [flaw.message, flaw])).values(),
  ];
  const asked = nodesAsked(steps);
  const problems = [...plan.problems, ...rounds.problems].filter((one) => !isAsked(one, asked));
  return [
    ...subnets.troubles,
    ...servers.troubles,
    ...cloud.troubles.filter((trouble) => !isSaid(trouble, servers.troubles)),
    ...flaws,
    ...problems.filter((problem) => !isSaid(problem, [...read, ...flaws])),
    // Answers come in any order; the status keeps one.
    ...rounds.delivery.failures
      .toSorted((a, b) => compareText(a.nodeName, b.nodeName))
      .map(({ reason, message }) => ({ reason, message })),
    ...former.troubles,
  ];
}

/** Returns the subjects of the nodes whose removals are retried. */
function nodesAsked({ rounds, asking }: Steps): ReadonlySet<string> {
  const nodes = rounds.nodes.filter(({ instanceId }) => asking.has(instanceId));
  return new Set(nodes.map(({ nodeName }) => `node ${nodeName}`));
}

/** Whether a removal is retried before it is reported. */
function isAsked({ reason, subject }: Problem, asked: ReadonlySet<string>): boolean {
  return reason === 'RemovalUnconfirmed' && asked.has(subject);
}

/** Whether a service failed; a single node, port or network that cannot be used does not count. */
export function isOutage({ observed, rounds }: Pick<Steps, 'observed' | 'rounds'>): boolean {
  return isCloudOutage(observed) || rounds.delivery.failures.some(({ kind }) => kind === 'outage');
}

/** Whether a service of the cloud failed. */
export function isCloudOutage({ subnets, servers, cloud }: Observed): boolean {
  const read = [...subnets.troubles, ...servers.troubles, ...cloud.troubles];
  return read.some(({ reason }) => ofServices.has(reason));
}

const ofServices: ReadonlySet<string> = new Set<OperatorReason>([
  'KeystoneError',
  'NeutronEndpointError',
  'NeutronPortError',
  'NeutronSubnetError',
  'NovaServerError',
]);

// A failed Nova is one problem, not one for each server without a name.
function isSaid({ reason }: Trouble, troubles: readonly Trouble[]): boolean {
  return reason === 'NovaServerError' && troubles.some((other) => other.reason === reason);
}

/** Returns what each node waits for, for the status message. */
export function waitsOf({
  nodes,
  delivery,
  leaving,
  asking,
}: Pick<SyncResult, 'nodes' | 'delivery' | 'leaving' | 'asking'>): string[] {
  const doubtful = nodes.filter(({ instanceId }) => asking.has(instanceId));
  return [
    ...doubtful.map(({ nodeName }) => `${nodeName}: Nova has not written down a detach yet`),
    ...nodes.filter(({ waiting }) => waiting).map(({ nodeName, why }) => `${nodeName}: ${why}`),
    ...inOrder(delivery.waiting).map((nodeName) => `${nodeName}: the object changes or goes`),
    ...inOrder(leaving.map(({ nodeName }) => nodeName)).map(
      (nodeName) => `${nodeName}: leaves the business cluster it was in`,
    ),
  ];
}

function inOrder(names: readonly string[]): string[] {
  return names.toSorted(compareText);
}
