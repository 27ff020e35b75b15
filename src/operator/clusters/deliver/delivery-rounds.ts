import type { ExistingNodeConfig, UnreadableNode } from '../../../api/node-configs-http.ts';
import { calculate } from '../../../plan/calculate.ts';
import { goingIn, keptKey } from '../../../plan/gate.ts';
import type { NodePlan, Plan, PlanInput, Problem, RecordedNode } from '../../../plan/plan.ts';
import { deliveredFor, nicAt } from '../../../plan/view.ts';
import { mapBounded } from '../../../process/bounded.ts';
import { isRequestError } from '../../../requests/request-error.ts';
import { type DeliverOptions, type Delivery, deliver } from './deliver.ts';
import type { ViolaClient } from './viola-client.ts';
import { violaFailure } from './viola-problem.ts';

/** Most delivery rounds for nodes that change meanwhile; the next poll retries the rest. */
const rounds = 3;
const readsAtOnce = 8;

/** A plan and the input behind the plan. */
export interface Planned {
  readonly input: PlanInput;
  readonly plan: Plan;
}

export interface Rounds {
  /** Nodes of the last plan. */
  readonly nodes: readonly NodePlan[];
  readonly delivery: Delivery;
  /** Existing nodes, as last read. */
  readonly held: readonly ExistingNodeConfig[];
  /** Unreadable objects; their earlier records are neither confirmed nor obsolete. */
  readonly unreadable: readonly string[];
  /** Problems of repeated plans, beyond the first plan's problems. */
  readonly problems: readonly Problem[];
}

interface RoundsOptions extends DeliverOptions {
  readonly viola: ViolaClient;
  /** Unreadable objects; their nodes stay unchanged. */
  readonly unreadable: readonly UnreadableNode[];
}

/**
 * Delivers a plan; nodes changed since their read are read and planned again. Nodes whose new NIC skipped an index are
 * read again before any POST: Viola's list may be some seconds old, and an index is permanent.
 */
export async function deliverInRounds(
  { plan: first, input }: Planned,
  options: RoundsOptions,
  signal: AbortSignal,
): Promise<Rounds> {
  const replanning = new Replanning(input, first, options);
  const skipping = first.nodes.filter(({ passedOver }) => passedOver);
  if (skipping.length > 0) await replanning.again(namesOf(skipping), signal);
  let delivery = await deliver(replanning.readable(), options, signal);
  for (let round = 1; round < rounds && delivery.stale.length > 0; round++) {
    const names = await replanning.again(new Set(delivery.stale), signal);
    const again = replanning.readable().filter(({ nodeName }) => names.has(nodeName));
    delivery = merge(delivery, await deliver(again, options, signal));
  }
  const { nodes, held, problems, unreadable } = replanning;
  const failures = [...delivery.failures, ...stillStale(delivery), ...replanning.heldBack()];
  return { nodes, delivery: { ...delivery, failures }, held, problems, unreadable };
}

type Unreadable = Pick<UnreadableNode, 'instanceId' | 'message'>;

/** A plan whose changed nodes are read and planned again. */
class Replanning {
  readonly #first: Plan;
  readonly #input: PlanInput;
  readonly #viola: Pick<ViolaClient, 'get'>;
  readonly #unreadable: Map<string, Unreadable>;
  readonly #nodes: Map<string, NodePlan>;
  readonly #problems = new Map<string, Problem>();
  held: readonly ExistingNodeConfig[];

  constructor(input: PlanInput, first: Plan, { viola, unreadable }: RoundsOptions) {
    // Records and consent cover the removals of the first plan only.
    this.#input = { ...input, decided: basesIn(first.nodes, input) };
    this.#first = first;
    this.#viola = viola;
    this.#unreadable = new Map(unreadable.map((one) => [one.objectName, one]));
    this.#nodes = new Map(first.nodes.map((node) => [keyOf(node), node]));
    this.held = input.held;
  }

  get nodes(): readonly NodePlan[] {
    return [...this.#nodes.values()];
  }

  /** Problems beyond the first plan's problems. */
  get problems(): readonly Problem[] {
    const known = new Set(this.#first.problems.map(({ message }) => message));
    return [...this.#problems.values()].filter(({ message }) => !known.has(message));
  }

  /** Names of the unreadable objects. */
  get unreadable(): readonly string[] {
    return [...this.#unreadable.keys()];
  }

  /** Returns the nodes whose objects are readable. */
  readable(): readonly NodePlan[] {
    return this.nodes.filter((node) => this.#whyUnreadable(node) === undefined);
  }

  /** Returns a failure for each changed node with an unreadable object. */
  heldBack(): Delivery['failures'] {
    return this.nodes.flatMap((node) => {
      const why = node.action === 'none' ? undefined : this.#whyUnreadable(node);
      if (why === undefined) return [];
      const { nodeName } = node;
      const message = `viola: node ${nodeName} cannot be read: ${why}`;
      const about = { nodeName, reason: 'ViolaPostError', message } as const;
      return [{ ...about, retryAfterMs: undefined, kind: 'refused' as const }];
    });
  }

  /** Compares the instance id, too: the object may have the server's former name. */
  #whyUnreadable({ nodeName, instanceId }: NodePlan): string | undefined {
    const one =
      this.#unreadable.get(nodeName) ??
      [...this.#unreadable.values()].find(
        (other) => other.instanceId?.toLowerCase() === instanceId,
      );
    return one?.message;
  }

  /**
   * Reads these nodes and plans them again. Returns their present names: a node without an object may get a new name.
   */
  async again(names: ReadonlySet<string>, signal: AbortSignal): Promise<ReadonlySet<string>> {
    const reads = await mapBounded(
      [...names],
      readsAtOnce,
      async (name) => this.#read(name, signal),
      signal,
    );
    const others = this.held.filter(({ nodeName }) => !names.has(nodeName));
    this.held = [...others, ...reads.flatMap((node) => node ?? [])];
    const servers = this.#first.nodes.filter(({ nodeName }) => names.has(nodeName));
    const scope = servers.map(({ instanceId }) => instanceId);
    const recorded = [...this.#nicsOfDeleted(), ...this.#input.recorded];
    const plan = calculate({ ...this.#input, held: this.held, recorded, scope });
    const renamed = plan.nodes.filter((node) => !this.#nodes.has(keyOf(node)));
    const moved = new Set(renamed.map(({ instanceId }) => instanceId));
    const former = servers.filter(({ instanceId }) => moved.has(instanceId));
    for (const node of former) this.#nodes.delete(keyOf(node));
    for (const node of plan.nodes) this.#nodes.set(keyOf(node), node);
    for (const problem of plan.problems) this.#problems.set(problem.message, problem);
    return new Set([...names, ...namesOf(renamed)]);
  }

  /** Returns the NICs of objects deleted since the plan, because NIC names outlive objects. */
  #nicsOfDeleted(): RecordedNode[] {
    const there = new Set(this.held.map(({ nodeName }) => nodeName));
    const gone = this.#input.held.filter(({ nodeName }) => !there.has(nodeName));
    return gone.map((node) => ({
      instanceId: deliveredFor(node) ?? '',
      interfaces: node.spec.interfaces ?? [],
    }));
  }

  async #read(name: string, signal: AbortSignal): Promise<ExistingNodeConfig | undefined> {
    try {
      return await this.#viola.get(name, signal);
    } catch (error) {
      if (!isRequestError(error) || error.code !== 'Unreadable') throw violaFailure(error);
      this.#unreadable.set(name, { message: error.reason });
      return undefined;
    }
  }
}

/** Returns the bases of a plan's removals, by NIC. */
function basesIn(nodes: readonly NodePlan[], input: PlanInput): NonNullable<PlanInput['decided']> {
  const going = goingIn(nodes, input).map(({ nic, basis }) => [nic, basis] as const);
  const kept = nodes.flatMap(({ instanceId, keptNics = [] }) =>
    keptNics.map((nic) => [keptKey(instanceId, nic), nic.basis] as const),
  );
  const unnamed = nodes
    .filter(({ removalsAllowed }) => removalsAllowed)
    .map(({ instanceId }) => [keptKey(instanceId, { macAddress: '' }), 'consent'] as const);
  // A consent to a NIC whose port was not read stays open until the read.
  const unread = nodes.flatMap(({ instanceId, removals }) =>
    removals.unconfirmed
      .filter(({ basis }) => basis === 'consent')
      .map((removal) => [nicAt(instanceId, removal), 'consent'] as const),
  );
  return new Map([...kept, ...unnamed, ...unread, ...going]);
}

function keyOf({ nodeName, instanceId }: NodePlan): string {
  return `${nodeName}/${instanceId}`;
}

function namesOf(nodes: readonly NodePlan[]): ReadonlySet<string> {
  return new Set(nodes.map(({ nodeName }) => nodeName));
}

function stillStale({ stale }: Delivery): Delivery['failures'] {
  return stale.map((nodeName) => {
    const message = `viola: node ${nodeName} changed during every attempt; the next poll tries again`;
    const about = { nodeName, reason: 'ViolaPostError', message } as const;
    return { ...about, retryAfterMs: undefined, kind: 'refused' };
  });
}

function merge(before: Delivery, now: Delivery): Delivery {
  return {
    accepted: [...before.accepted, ...now.accepted],
    removed: [...before.removed, ...now.removed],
    stale: now.stale,
    waiting: [...before.waiting, ...now.waiting],
    failures: [...before.failures, ...now.failures],
  };
}
