import type { ExistingNodeConfig, UnreadableNode } from '../../api/node-configs-http.ts';
import { calculate } from '../../plan/calculate.ts';
import type { NodePlan, Plan, PlanInput, Problem, RecordedNode } from '../../plan/plan.ts';
import { deliveredFor } from '../../plan/view.ts';
import { mapBounded } from '../../process/bounded.ts';
import { isRequestError } from '../../requests/request-error.ts';
import { StepFailure } from '../status/step-failure.ts';
import { type DeliverOptions, type Delivery, deliver } from './deliver.ts';
import type { ViolaClient } from './viola-client.ts';

/** Plans that met a change of the business cluster are made again so often, then at the next poll. */
const rounds = 3;
const readsAtOnce = 8;

/** A plan with what it was made of. */
export interface Planned {
  readonly input: PlanInput;
  readonly plan: Plan;
}

export interface Rounds {
  /** The nodes as they were planned last. */
  readonly nodes: readonly NodePlan[];
  readonly delivery: Delivery;
  /** The business cluster as it was last read. */
  readonly held: readonly ExistingNodeConfig[];
  /** Objects of which nothing is known; what was known of them before is neither confirmed nor over. */
  readonly unreadable: readonly string[];
  /** What plans that were made again could not do. */
  readonly problems: readonly Problem[];
}

interface RoundsOptions extends DeliverOptions {
  readonly viola: ViolaClient;
  /** Objects of which nothing is known: their nodes are left alone. */
  readonly unreadable: readonly UnreadableNode[];
}

/**
 * Delivers a plan. Nodes that have moved since they were read are read again and planned again; before anything is sent
 * those whose new NICs had to pass a name over, as Viola's list may be some seconds old and a name is given for good.
 */
export async function deliverInRounds(
  { plan: first, input }: Planned,
  options: RoundsOptions,
  signal: AbortSignal,
): Promise<Rounds> {
  const replanning = new Replanning(input, first, options);
  const doubtful = first.nodes.filter(({ passedOver }) => passedOver);
  if (doubtful.length > 0) await replanning.again(namesOf(doubtful), signal);
  let delivery = await deliver(replanning.readable(), options, signal);
  for (let round = 1; round < rounds && delivery.stale.length > 0; round++) {
    const names = await replanning.again(new Set(delivery.stale), signal);
    const again = replanning.readable().filter(({ nodeName }) => names.has(nodeName));
    delivery = merge(delivery, await deliver(again, options, signal));
  }
  const { nodes, held, problems, unreadable } = replanning;
  const failures = [...delivery.failures, ...restless(delivery), ...replanning.heldBack()];
  return { nodes, delivery: { ...delivery, failures }, held, problems, unreadable };
}

type Unreadable = Pick<UnreadableNode, 'instanceId' | 'message'>;

/** A plan of which some nodes are planned again, with what they are now. */
class Replanning {
  readonly #first: Plan;
  readonly #input: PlanInput;
  readonly #viola: Pick<ViolaClient, 'get'>;
  readonly #unreadable: Map<string, Unreadable>;
  readonly #nodes: Map<string, NodePlan>;
  readonly #problems = new Map<string, Problem>();
  held: readonly ExistingNodeConfig[];

  constructor(input: PlanInput, first: Plan, { viola, unreadable }: RoundsOptions) {
    const isHeld = first.problems.some(({ reason }) => reason === 'RemovalHeld');
    // A part of a large removal is no small one.
    this.#input = isHeld ? { ...input, removals: 'held' } : input;
    this.#first = first;
    this.#viola = viola;
    this.#unreadable = new Map(unreadable.map((one) => [one.objectName, one]));
    this.#nodes = new Map(first.nodes.map((node) => [keyOf(node), node]));
    this.held = input.held;
  }

  get nodes(): readonly NodePlan[] {
    return [...this.#nodes.values()];
  }

  /** Those that the first plan did not have. */
  get problems(): readonly Problem[] {
    const said = new Set(this.#first.problems.map(({ message }) => message));
    return [...this.#problems.values()].filter(({ message }) => !said.has(message));
  }

  /** Names of the objects that cannot be read. */
  get unreadable(): readonly string[] {
    return [...this.#unreadable.keys()];
  }

  /** The nodes of which the objects can be read; nothing is known of the others. */
  readable(): readonly NodePlan[] {
    return this.nodes.filter((node) => this.#whyUnreadable(node) === undefined);
  }

  /** What was to be sent, had its object been readable. */
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

  /** Its object may have the name that its server had before. */
  #whyUnreadable({ nodeName, instanceId }: NodePlan): string | undefined {
    const one =
      this.#unreadable.get(nodeName) ??
      [...this.#unreadable.values()].find(
        (other) => other.instanceId?.toLowerCase() === instanceId,
      );
    return one?.message;
  }

  /**
   * Reads these nodes again and plans them anew; answers the names that they have then: without its object a node may get
   * another one.
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
    const recorded = [...this.#vanished(), ...this.#input.recorded];
    const plan = calculate({ ...this.#input, held: this.held, recorded, scope });
    const renamed = plan.nodes.filter((node) => !this.#nodes.has(keyOf(node)));
    const moved = new Set(renamed.map(({ instanceId }) => instanceId));
    const former = servers.filter(({ instanceId }) => moved.has(instanceId));
    for (const node of former) this.#nodes.delete(keyOf(node));
    for (const node of plan.nodes) this.#nodes.set(keyOf(node), node);
    for (const problem of plan.problems) this.#problems.set(problem.message, problem);
    return new Set([...names, ...namesOf(renamed)]);
  }

  /** What objects held that have gone since: the names of their NICs outlive them. */
  #vanished(): RecordedNode[] {
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

function keyOf({ nodeName, instanceId }: NodePlan): string {
  return `${nodeName}/${instanceId}`;
}

function namesOf(nodes: readonly NodePlan[]): ReadonlySet<string> {
  return new Set(nodes.map(({ nodeName }) => nodeName));
}

function restless({ stale }: Delivery): Delivery['failures'] {
  return stale.map((nodeName) => {
    const message = `viola: node ${nodeName} changes all the time; tried again at the next poll`;
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

/** Without knowing what the business cluster holds nothing may be sent: names would be given twice. */
export function violaFailure(error: unknown): unknown {
  if (!isRequestError(error)) return error;
  const { message, retryAfterMs } = error;
  return new StepFailure(
    { reason: 'ViolaPostError', message },
    { cause: error, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) },
  );
}
