import type { Effect } from '../api/effects.ts';
import type { HeldNode } from '../api/node-configs-http.ts';
import { keyOf } from '../kube/object.ts';
import type { Cloud } from '../openstack/cloud.ts';
import type { Observation } from '../plan/observation.ts';
import type { NodePlan, Plan } from '../plan/plan.ts';
import type { Perform } from '../process/effects.ts';
import type { Logger } from '../process/log.ts';
import type { Random } from '../time/clock.ts';
import type { Delivery } from './deliver/deliver.ts';
import { deliverInRounds, violaFailure } from './deliver/delivery-rounds.ts';
import { planInput, planNodes, type Wish } from './deliver/plan-nodes.ts';
import type { ViolaClient } from './deliver/viola-client.ts';
import { chooseSubnets } from './observe/choose-subnets.ts';
import type { MissingServers } from './observe/missing-servers.ts';
import { type Look, observe } from './observe/observe.ts';
import type { PortDirectory } from './observe/port-directory.ts';
import type { Trouble } from './status/step-failure.ts';

/** What a cloud is looked at with; shared by all OpenstackConfigs that name it. */
export interface CloudView {
  readonly cloud: Cloud;
  readonly ports: PortDirectory;
  readonly missing: MissingServers;
}

export interface SyncInput extends Wish {
  readonly view: CloudView;
  readonly viola: ViolaClient;
  /** How old shared observations may be. */
  readonly maxAgeMs: number;
  /** Called before the first write to the business cluster, and while it holds anything of ours. */
  readonly beforeDelivery: () => Promise<void>;
}

export interface SyncDeps {
  readonly perform: Perform<Effect>;
  readonly random: Random;
  readonly log: Logger;
}

export interface SyncResult {
  /** The nodes as they were planned last. */
  readonly nodes: readonly NodePlan[];
  readonly summary: Plan['summary'];
  readonly observation: Observation;
  /** What the business cluster held when the nodes were sent. */
  readonly held: readonly HeldNode[];
  readonly delivery: Delivery;
  /** In the order of the steps. */
  readonly troubles: readonly Trouble[];
}

/** One look and one delivery: everything that can be delivered is, whatever else fails. Throws StepFailure. */
export async function sync(
  input: SyncInput,
  deps: SyncDeps,
  signal: AbortSignal,
): Promise<SyncResult> {
  const { config, source, view, viola, maxAgeMs } = input;
  const subnets = await chooseSubnets(view.cloud, config.subnets, signal);
  const [look, held] = await both(
    observe({ ...view, ...config, member: keyOf(source), subnets, maxAgeMs }, signal),
    viola.list({ fresh: input.force }, signal),
    signal,
  );
  const planned = await planNodes(planInput(input, subnets, look, held), view.cloud, deps, signal);
  const { plan } = planned;
  deps.log.debug({ summary: plan.summary, nodes: actionsOf(plan) }, 'planned');
  const concerned = plan.nodes.some(({ action, base }) => action !== 'none' || base !== null);
  if (concerned) await input.beforeDelivery();
  const rounds = await deliverInRounds(planned, { ...input, ...deps }, signal);
  const problems = [...plan.problems, ...rounds.problems];
  return {
    nodes: rounds.nodes,
    summary: plan.summary,
    observation: planned.input.observation,
    held: rounds.held,
    delivery: rounds.delivery,
    troubles: [
      ...subnets.troubles,
      ...look.troubles,
      ...problems.filter((problem) => !isSaid(problem, look.troubles)),
      ...rounds.delivery.failures.map(
        ({ message }) => ({ reason: 'ViolaPostError', message }) as const,
      ),
    ],
  };
}

// A failed Nova is one trouble, not one for every server whose name is not known.
function isSaid({ reason }: Trouble, troubles: readonly Trouble[]): boolean {
  return reason === 'NovaServerError' && troubles.some((other) => other.reason === reason);
}

/** Looks and reads at once; when both fail, OpenStack is the first step. */
async function both(
  look: Promise<Look>,
  list: Promise<HeldNode[]>,
  signal: AbortSignal,
): Promise<[Look, HeldNode[]]> {
  const [seen, held] = await Promise.allSettled([look, list]);
  signal.throwIfAborted();
  if (seen.status === 'rejected') throw seen.reason;
  if (held.status === 'rejected') throw violaFailure(held.reason);
  return [seen.value, held.value];
}

function actionsOf({ nodes }: Plan) {
  return nodes
    .filter(({ action }) => action !== 'none')
    .map(({ nodeName, action, why, removals }) => ({ nodeName, action, why, removals }));
}
