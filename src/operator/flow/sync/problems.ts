import type { OperatorReason } from '../../../api/reasons.ts';
import type { Plan, Problem } from '../../../plan/plan.ts';
import { compareText } from '../../../plan/view.ts';
import type { Observed } from '../../cloud/observe/observe.ts';
import type { Rounds } from '../../clusters/deliver/delivery-rounds.ts';
import type { StatusProblem } from '../../model/step-failure.ts';
import type { FormerClusters, SyncResult } from '../../report/result.ts';

interface Steps extends Pick<SyncResult, 'retrying'> {
  readonly observed: Observed;
  readonly plan: Plan;
  readonly rounds: Rounds;
  readonly former: FormerClusters;
}

/** Returns a sync's problems, ordered by step. */
export function problemsIn(steps: Steps): readonly StatusProblem[] {
  const { observed, plan, rounds, former } = steps;
  const { servers, subnets, cloud } = observed;
  const read = [...servers.problems, ...cloud.problems];
  const flaws = [
    ...new Map([...servers.flaws, ...cloud.flaws].map((flaw) => [flaw.message, flaw])).values(),
  ];
  const retried = retriedNodes(steps);
  const planned = [...plan.problems, ...rounds.problems].filter((one) => !isRetried(one, retried));
  return [
    ...subnets.problems,
    ...servers.problems,
    ...cloud.problems.filter((problem) => !isReported(problem, servers.problems)),
    ...flaws,
    ...planned.filter((problem) => !isReported(problem, [...read, ...flaws])),
    // Failures arrive in any order; the status needs a stable first failure.
    ...rounds.delivery.failures
      .toSorted((a, b) => compareText(a.nodeName, b.nodeName))
      .map(({ reason, message }) => ({ reason, message })),
    ...former.problems,
    ...unsupportedIn(observed),
  ];
}

/** Returns settings that Viola drops; the nodes are delivered without them. */
export function unsupportedIn({ supportsAdoption }: Observed): readonly StatusProblem[] {
  if (supportsAdoption !== false) return [];
  const message =
    'spec.settings.existingConfiguration is Adopt, and Viola does not list the feature adopt for the business cluster: the nodes are delivered as with Refuse; upgrade Viola and the CRDs of the business cluster';
  return [{ reason: 'AdoptUnsupported', message }];
}

/** Returns the subjects for nodes with retried removals. */
function retriedNodes({ rounds, retrying }: Steps): ReadonlySet<string> {
  const nodes = rounds.nodes.filter(({ instanceId }) => retrying.has(instanceId));
  return new Set(nodes.map(({ nodeName }) => `node ${nodeName}`));
}

/** Returns whether a removal is retried before the status reports it. */
function isRetried({ reason, subject }: Problem, retried: ReadonlySet<string>): boolean {
  return reason === 'RemovalUnconfirmed' && retried.has(subject);
}

/** Returns whether a service failed; a single unusable node, port or network does not count. */
export function isOutage({ observed, rounds }: Pick<Steps, 'observed' | 'rounds'>): boolean {
  return isCloudOutage(observed) || rounds.delivery.failures.some(({ kind }) => kind === 'outage');
}

/** Returns whether a cloud service failed. */
export function isCloudOutage({ subnets, servers, cloud }: Observed): boolean {
  const read = [...subnets.problems, ...servers.problems, ...cloud.problems];
  return read.some(({ reason }) => ofServices.has(reason));
}

const ofServices: ReadonlySet<string> = new Set<OperatorReason>([
  'KeystoneError',
  'NeutronEndpointError',
  'NeutronPortError',
  'NeutronSubnetError',
  'NovaServerError',
]);

// A Nova failure is a single problem, instead of a problem per server without a name.
function isReported({ reason }: StatusProblem, problems: readonly StatusProblem[]): boolean {
  return reason === 'NovaServerError' && problems.some((other) => other.reason === reason);
}

/** Returns the reason why each node waits, for the status message. */
export function waitsOf({
  nodes,
  delivery,
  leaving,
  retrying,
}: Pick<SyncResult, 'nodes' | 'delivery' | 'leaving' | 'retrying'>): string[] {
  const unconfirmed = nodes.filter(({ instanceId }) => retrying.has(instanceId));
  return [
    ...unconfirmed.map(({ nodeName }) => `${nodeName}: Nova has not recorded a detach yet`),
    ...nodes.filter(({ waiting }) => waiting).map(({ nodeName, why }) => `${nodeName}: ${why}`),
    ...inOrder(delivery.waiting).map(
      (nodeName) => `${nodeName}: its MultiNicNodeConfig is being changed or deleted`,
    ),
    ...inOrder(leaving.map(({ nodeName }) => nodeName)).map(
      (nodeName) => `${nodeName}: is being removed from its former business cluster`,
    ),
  ];
}

function inOrder(names: readonly string[]): string[] {
  return names.toSorted(compareText);
}
