import { isSameJson } from '../api/same-json.ts';
import type { Claim } from './claims.ts';
import { type NodeOutcome, planClaim } from './node-plan.ts';
import type { Port, Server } from './observation.ts';
import type { PlanInput } from './plan.ts';
import type { View } from './view.ts';

/** A node's plan, with all data of its own that the plan depends on. */
interface PlannedNode {
  readonly claim: Claim;
  readonly ports: readonly Port[];
  readonly server: Server | undefined;
  readonly outcome: NodeOutcome;
}

/** Node plans of one calculation, by server id. Without nodes that depend on evidence, records or held removals. */
export interface NodePlans {
  /** Data that all nodes depend on. */
  readonly frame: object;
  readonly nodes: ReadonlyMap<string, PlannedNode>;
}

/** Plans nodes; `plans` are the node plans so far. */
interface Planner {
  readonly plans: NodePlans;
  readonly planNode: (claim: Claim) => NodeOutcome;
}

/**
 * Returns a planner that takes over the plans of nodes without changes from an earlier calculation: `planClaim` is pure,
 * so equal data has an equal plan. Usually one node of thousands has changed.
 */
export function plannerAfter(former: NodePlans | undefined, view: View): Planner {
  const frame = frameOf(view.input);
  const nodes = new Map<string, PlannedNode>();
  const usable = isSameJson(former?.frame, frame) ? former?.nodes : undefined;
  return {
    plans: { frame, nodes },
    planNode: (claim) => {
      const { serverId } = claim;
      if (view.dependents.has(serverId)) return planClaim(claim, view);
      const own = {
        claim,
        ports: view.portsOf(serverId),
        server: view.servers.get(serverId),
      };
      const known = usable?.get(serverId);
      const outcome = known && isSame(known, own) ? known.outcome : planClaim(claim, view);
      nodes.set(serverId, { ...own, outcome });
      return outcome;
    },
  };
}

function isSame(
  { claim, ports, server }: PlannedNode,
  own: Pick<PlannedNode, 'claim' | 'ports' | 'server'>,
): boolean {
  return (
    ports.length === own.ports.length &&
    ports.every((port, at) => isSameJson(port, own.ports[at])) &&
    isSameJson(server, own.server) &&
    isSameJson(claim, own.claim)
  );
}

/** Returns an input without data of single nodes, and without data for decisions after the node plans. */
function frameOf(input: PlanInput): object {
  const {
    held: _held,
    evidence: _evidence,
    serverEvidence: _serverEvidence,
    recorded: _recorded,
    budgets: _budgets,
    recordedNics: _recordedNics,
    removals: _removals,
    storedHold: _storedHold,
    refusal: _refusal,
    decided: _decided,
    observation: { servers: _servers, ports: _ports, ...observation },
    ...frame
  } = input;
  return { ...frame, observation };
}
