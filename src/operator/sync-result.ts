import type { HeldNode } from '../api/node-configs-http.ts';
import type { OperatorReason } from '../api/reasons.ts';
import type { Observation } from '../plan/observation.ts';
import type { NodePlan, Plan } from '../plan/plan.ts';
import type { LeavingOthers } from './deletion/leave-others.ts';
import type { Delivery } from './deliver/deliver.ts';
import type { Rounds } from './deliver/delivery-rounds.ts';
import type { Seen } from './observe/observe-both.ts';
import type { Trouble } from './status/step-failure.ts';

/** What one pass through the steps saw and did. */
export interface SyncResult {
  /** The nodes as they were planned last. */
  readonly nodes: readonly NodePlan[];
  readonly summary: Plan['summary'];
  readonly observation: Observation;
  /** What the business cluster held when the nodes were sent. */
  readonly held: readonly HeldNode[];
  readonly delivery: Delivery;
  /** Whether everything was read that a removal depends on. */
  readonly evidenceComplete: boolean;
  /** Nodes in business clusters that the OpenstackConfig names no longer. */
  readonly leaving: readonly HeldNode[];
  /** Business clusters that hold, or may hold, nodes of the OpenstackConfig. */
  readonly deliveredTo: readonly string[];
  /** In the order of the steps. */
  readonly troubles: readonly Trouble[];
  /** A service failed: less often is enough until it works again. */
  readonly isOutage: boolean;
}

interface Steps {
  readonly seen: Seen;
  readonly plan: Plan;
  readonly rounds: Rounds;
  readonly others: LeavingOthers;
}

/** What went wrong, in the order of the steps. */
export function troublesIn({ seen, plan, rounds, others }: Steps): readonly Trouble[] {
  const { subnets, look } = seen;
  const problems = [...plan.problems, ...rounds.problems];
  return [
    ...subnets.troubles,
    ...look.troubles,
    ...problems.filter((problem) => !isSaid(problem, look.troubles)),
    ...rounds.delivery.failures.map(
      ({ message }) => ({ reason: 'ViolaPostError', message }) as const,
    ),
    ...others.troubles,
  ];
}

/** Whether a service failed for all; a node, port or network that cannot be used slows nobody else down. */
export function isOutage({ seen, rounds }: Pick<Steps, 'seen' | 'rounds'>): boolean {
  const read = [...seen.subnets.troubles, ...seen.look.troubles];
  return (
    read.some(({ reason }) => ofServices.has(reason)) ||
    rounds.delivery.failures.some(({ kind }) => kind === 'outage')
  );
}

const ofServices: ReadonlySet<string> = new Set<OperatorReason>([
  'KeystoneError',
  'NeutronEndpointError',
  'NeutronPortError',
  'NeutronSubnetError',
  'NovaServerError',
]);

// A failed Nova is one trouble, not one for every server whose name is not known.
function isSaid({ reason }: Trouble, troubles: readonly Trouble[]): boolean {
  return reason === 'NovaServerError' && troubles.some((other) => other.reason === reason);
}

/** What nodes wait for, for people. */
export function waitsOf({
  nodes,
  delivery,
  leaving,
}: Pick<SyncResult, 'nodes' | 'delivery' | 'leaving'>): string[] {
  return [
    ...nodes.filter(({ waiting }) => waiting).map(({ nodeName, why }) => `${nodeName}: ${why}`),
    ...delivery.waiting.map((nodeName) => `${nodeName}: the object changes or goes`),
    ...leaving.map(({ nodeName }) => `${nodeName}: leaves the business cluster it was in`),
  ];
}
