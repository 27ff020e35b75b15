import { type Claim, claimNodes } from './claims.ts';
import { planLeftovers } from './leftovers.ts';
import { planClaim } from './node-plan.ts';
import type { NodePlan, Plan, PlanInput, PortVerdict, Problem } from './plan.ts';
import { compareText, isOwn, type View, viewOf } from './view.ts';

/**
 * What has to be posted and deleted so that the business cluster holds what the OpenstackConfig selects. Pure: equal
 * input gives an equal plan, whatever order its lists have.
 */
export function calculate(input: PlanInput): Plan {
  const steps = calculateInSteps(input);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** The same, view, claims, and node by node: whoever plans for thousands can do something else in between. */
export function* calculateInSteps(input: PlanInput): Generator<undefined, Plan> {
  if (input.removals === 'held') return yield* planAll(viewOf(input, true));
  const plan = yield* planAll(viewOf(input, false));
  const limit = Math.max(10, Math.floor(0.2 * input.cloudInterfaces));
  const count = removalsAtOnce(plan, input);
  if (input.removals === 'allowed' || count <= limit) return plan;
  const held = yield* planAll(viewOf(input, true));
  // It waits for somebody, what else is unclear perhaps for this.
  return { ...held, problems: [removalHeld(count, limit), ...held.problems] };
}

/**
 * How many NICs go although nobody edited the CR. Those whose evidence has not been read yet count as well, else a large
 * removal would slip through in portions; one that is tried again is no other.
 */
function removalsAtOnce({ nodes, ask, askServers }: Plan, { recentRemovals }: PlanInput): number {
  const going = nicsGoing(nodes);
  if (going.length === 0) return 0;
  const asked = new Set(askServers);
  const unread = nodes
    .filter(({ instanceId }) => asked.has(instanceId))
    .flatMap(({ instanceId, interfaces }) => interfaces.map((nic) => nicAt(instanceId, nic)));
  const questions = ask.map((question) => nicAt(question.serverId, question));
  return new Set([...going, ...questions, ...unread, ...recentRemovals]).size;
}

/** The NICs that nodes lose although nobody edited the CR: each is always called the same. */
export function nicsGoing(nodes: readonly NodePlan[]): string[] {
  return nodes
    .filter(({ action }) => action !== 'none')
    .flatMap(({ instanceId, removals }) =>
      removals.confirmed
        .filter(({ explicit }) => !explicit)
        .map((removal) => nicAt(instanceId, removal)),
    );
}

function nicAt(serverId: string, { portId, macAddress }: Nic): string {
  return `${serverId} ${portId || macAddress.toLowerCase()}`;
}

type Nic = { readonly portId?: string | undefined; readonly macAddress: string };

function* planAll(view: View): Generator<undefined, Plan> {
  yield;
  const claims = claimNodes(view);
  yield;
  const outcomes: ReturnType<typeof planClaim>[] = [];
  for (const claim of claims) {
    outcomes.push(planClaim(claim, view));
    yield;
  }
  const leftovers = planLeftovers(claims, view);
  const nodes = [...outcomes.flatMap(({ node }) => node ?? []), ...leftovers.nodes]
    .toSorted(
      (a, b) => compareText(a.nodeName, b.nodeName) || compareText(a.instanceId, b.instanceId),
    )
    .map((node) => (isForeign(node, view) ? { ...node, isForeign: true } : node));
  const delivered = nodes.map((node) => (node.isForeign ? 0 : node.interfaces.length));
  const ports = outcomes.flatMap((outcome) => outcome.ports);
  return {
    nodes,
    problems: [
      ...lostServers(claims, view),
      ...outcomes.flatMap(({ problems }) => problems),
      ...leftovers.problems,
    ],
    ports,
    ask: outcomes.flatMap(({ ask }) => ask),
    askServers: leftovers.askServers,
    summary: {
      servers: new Set(view.input.selection.serverIds).size,
      nodes: delivered.filter((count) => count > 0).length,
      interfaces: delivered.reduce((sum, count) => sum + count, 0),
      filteredPorts: unusedPorts(ports).length,
    },
  };
}

/** Whether the object stays another OpenstackConfig's: nothing is sent for it, nor will be once it is gone. */
function isForeign({ nodeName, action, waiting }: NodePlan, { heldByName, input }: View): boolean {
  const held = action === 'none' && !waiting ? heldByName.get(nodeName) : undefined;
  return held?.source !== undefined && !isOwn(held, input.owner);
}

/** Returns the ports that a user may expect among the NICs: those with an address in a selected subnet and no NIC. */
export function unusedPorts(ports: readonly PortVerdict[]): readonly PortVerdict[] {
  return ports.filter(({ address, nic }) => address !== undefined && nic === undefined);
}

function lostServers(claims: readonly Claim[], view: View): Problem[] {
  return claims.flatMap(({ serverId }) => {
    const deleted = view.servers.get(serverId)?.status === 'DELETED';
    if (!deleted && !view.missingServers.has(serverId)) return [];
    return [
      {
        reason: 'ServerNotFound',
        subject: `server ${serverId}`,
        field: 'spec.vmNames',
        value: serverId,
        message: `server ${serverId} of spec.vmNames ${deleted ? 'is deleted' : 'does not exist in the project'}; correct spec.vmNames`,
      } as const,
    ];
  });
}

function removalHeld(count: number, limit: number): Problem {
  const message = `${count} NICs would be removed at once, more than the ${limit} that go without asking; if this is right, set the annotation multinic.io/allow-removals to a new value`;
  return { reason: 'RemovalHeld', subject: 'spec', message };
}
