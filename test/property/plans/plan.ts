import type { Effect } from '../../../src/api/effects.ts';
import type { Random } from '../../../src/time/clock.ts';
import { randomOf } from '../leaders/contest.ts';

/** The nodes of every plan. */
export const nodeNames = ['worker-1', 'worker-2'] as const;
type NodeName = (typeof nodeNames)[number];

/** What the world wants of a node: indexes of its entries and their MTU. */
export interface DesiredPlan {
  readonly indexes: readonly number[];
  readonly mtu: number;
}

/** What happens in the world whether anything fails or not. */
export type Change =
  | { readonly kind: 'post'; readonly node: NodeName; readonly wish: DesiredPlan }
  | { readonly kind: 'withdraw'; readonly node: NodeName };

/** What fails between the controller and its server; each meets so many requests or events. */
export const requestFaults = ['429', '503', 'lost-request', 'lost-answer', 'late-answer'] as const;
export const eventFaults = ['drop', 'delay', 'twice', 'swap'] as const;

/** What becomes of nodes. */
const nodeFaults = ['not-ready', 'unnoticed', 'reboot', 'rebuild', 'replace'] as const;

/** What agents do instead of their work. */
export const agentFaults = ['silent', 'partial', 'refused', 'no-image', 'hang'] as const;

export type Fault =
  | {
      readonly kind: (typeof requestFaults)[number] | (typeof eventFaults)[number];
      readonly times: number;
      /** Plural name of the kind that is met; undefined: any. */
      readonly plural: string | undefined;
    }
  /** Every watch breaks, and is resumed from where it stood. */
  | { readonly kind: 'cut' }
  /** Every watch is told 410, and lists again; `stale`: what it lists then is from a while ago. */
  | { readonly kind: 'relist' | 'stale-list' }
  /** The controller dies at once, or at its next such write, and another one begins. */
  | { readonly kind: 'crash'; readonly at: Effect | undefined; readonly phase: 'before' | 'after' }
  /** The wall clock of the controller, or of the nodes, is set by so many milliseconds. */
  | { readonly kind: 'clock' | 'node-clock'; readonly byMs: number }
  /** The process stands still, as one that is suspended, while the rest goes on. */
  | { readonly kind: 'pause'; readonly forMs: number }
  | { readonly kind: (typeof agentFaults)[number]; readonly node: NodeName; readonly times: number }
  /** The kubelet is silent and the node not ready; then it is back, rebooted, rebuilt or with a new Node. */
  | {
      readonly kind: (typeof nodeFaults)[number];
      readonly node: NodeName;
      readonly forMs: number;
    }
  /** Somebody deletes what is the controller's. */
  | { readonly kind: 'job-deleted' | 'config-map-deleted' };

export type Step = (Change | Fault) & { readonly afterMs: number };

export interface Plan {
  readonly seed: number;
  readonly steps: readonly Step[];
}

export type FaultKind = Fault['kind'];

export const faultKinds: readonly FaultKind[] = [
  ...requestFaults,
  ...eventFaults,
  'cut',
  'relist',
  'stale-list',
  'crash',
  'clock',
  'node-clock',
  'pause',
  ...agentFaults,
  ...nodeFaults,
  'job-deleted',
  'config-map-deleted',
];

/** Writes at which a controller dies. */
const deaths = [
  undefined,
  'controller.finalizer.add',
  'controller.finalizer.remove',
  'controller.job.create',
  'controller.config-map.create',
  'controller.job.unsuspend',
  'controller.job.delete',
  'controller.status.write',
] as const;

const plurals = [undefined, 'multinicnodeconfigs', 'jobs', 'pods', 'nodes', 'configmaps'] as const;

/** The same plan for the same seed: it begins with a node config, and three to nine steps follow. */
export function planOf(seed: number): Plan {
  const random = randomOf(seed * 7_919 + 17);
  const first: Step = { ...post(random), afterMs: 1_000 * below(random, 8) };
  const rest = Array.from({ length: 3 + below(random, 7) }, () => stepOf(random));
  return { seed, steps: [first, ...rest] };
}

/** The changes of a plan alone. */
export function withoutFaults({ seed, steps }: Plan): Plan {
  return { seed, steps: steps.filter(isChange) };
}

export function isChange(step: Step): step is Change & { readonly afterMs: number } {
  return step.kind === 'post' || step.kind === 'withdraw';
}

function stepOf(random: Random): Step {
  // Often at once, so that faults and changes meet; sometimes late enough for everything to be over.
  const afterMs = pick(random, [0, 0, 200, 500, 1_000, 3_000, 10_000, 45_000]);
  const roll = random();
  if (roll < 0.3) return { ...post(random), afterMs };
  if (roll < 0.4) return { kind: 'withdraw', node: pick(random, nodeNames), afterMs };
  return { ...faultOf(pick(random, faultKinds), random), afterMs };
}

function post(random: Random): Change {
  const indexes = [0, 1, 2].filter(() => random() < 0.6);
  const mtu = pick(random, [1_450, 1_400]);
  return { kind: 'post', node: pick(random, nodeNames), wish: { indexes, mtu } };
}

function faultOf(kind: FaultKind, random: Random): Fault {
  const node = pick(random, nodeNames);
  const times = 1 + below(random, 4);
  if (isOneOf(nodeFaults, kind))
    return { kind, node, forMs: pick(random, [2_000, 20_000, 60_000]) };
  if (isOneOf(agentFaults, kind)) return { kind, node, times };
  if (isOneOf([...requestFaults, ...eventFaults], kind)) {
    return { kind, times, plural: pick(random, plurals) };
  }
  return faultOfAll(kind, random);
}

export type FaultOfAll = Exclude<Fault, { readonly node: NodeName } | { readonly times: number }>;

/** A fault that meets no node in particular and is over at once. */
function faultOfAll(kind: FaultOfAll['kind'], random: Random): FaultOfAll {
  if (kind === 'crash') {
    return { kind, at: pick(random, deaths), phase: pick(random, ['before', 'after']) };
  }
  if (kind === 'clock' || kind === 'node-clock') {
    return { kind, byMs: pick(random, [-10_800_000, -60_000, 60_000, 10_800_000]) };
  }
  if (kind === 'pause') return { kind, forMs: pick(random, [5_000, 40_000, 400_000]) };
  return { kind };
}

function isOneOf<T extends string>(list: readonly T[], text: string): text is T {
  return (list as readonly string[]).includes(text);
}

function pick<T>(random: Random, list: readonly T[]): T {
  return list[below(random, list.length)] as T;
}

function below(random: Random, limit: number): number {
  return Math.floor(random() * limit);
}
