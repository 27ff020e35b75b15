import type { JobAction } from '../../api/job.ts';
import type { Node } from '../../kube/core-resources.ts';
import type { Run, Runner } from '../jobs/runner.ts';
import { isReady } from '../objects/machine.ts';

/** A run that wants to start. */
export interface Candidate {
  /** Key of the object, to be woken when there is room. */
  readonly key: string;
  readonly node: string;
  /** Name of the run: one that stands half-way may go on. */
  readonly name: string;
  readonly action: JobAction;
  readonly attempt: number;
}

export type Permission =
  /** `release` when the start was carried out or given up. */
  { readonly granted: true; release(): void } | { readonly granted: false; readonly why: string };

/** Decides which node may be worked on now. */
export interface Admission {
  request(candidate: Candidate): Permission;
  /** Takes keys that were refused off the waiting list, the ones that wait longest first: they may ask again. */
  wake(): readonly string[];
}

export interface AdmissionOptions {
  readonly runner: Pick<Runner, 'runsOn' | 'open'>;
  readonly nodes: { get(name: string): Node | undefined };
  /** Whether somebody else's agent works on the node. */
  readonly occupied: (node: string) => boolean;
  /** How many agents may be at work at once. */
  readonly limit: () => number;
  /** Whether an agent of the image has reported in this cluster; before that one agent works at a time, checks excepted. */
  readonly isImageProven: () => boolean;
}

const lanes = ['change', 'cleanup', 'retry', 'check'] as const;
type Lane = (typeof lanes)[number];
const laneNames = {
  change: 'changes',
  cleanup: 'clean-ups',
  retry: 'further attempts',
  check: 'checks',
} as const satisfies Record<Lane, string>;

interface Waiting {
  readonly lane: Lane;
  /** The node that has to be free first, where another agent was on it. */
  readonly forNode: string | undefined;
}

interface Busy {
  readonly why?: string;
  /** Whether the run itself is there, half-way. */
  readonly isItsOwn: boolean;
}

function laneOf({ action, attempt }: Pick<Candidate, 'action' | 'attempt'>): Lane {
  if (action !== 'apply') return action;
  return attempt > 1 ? 'retry' : 'change';
}

/** How many runs of a lane may be under way when `most` agents may be at work. */
function limitOf(lane: Lane, most: number): number {
  if (lane === 'change') return most;
  return Math.max(1, Math.floor(most / (lane === 'check' ? 4 : 2)));
}

/**
 * One agent at a time on a node, and only so many in the whole cluster. What is tried again, and what is cleaned up, takes
 * at most half of the places each, and what is only looked at a quarter: none can keep changes waiting, however much of it
 * there is.
 */
export function createAdmission(options: AdmissionOptions): Admission {
  const { runner, nodes, occupied, limit, isImageProven } = options;
  // What was granted and is not visible as a run yet; forgotten with the process, which grants nothing then.
  const granted = new Map<string, Candidate>();
  const waiting = new Map<string, Waiting>();

  function request(candidate: Candidate): Permission {
    const { key, node } = candidate;
    const busy = busyWith(candidate);
    const why = busy.why ?? (busy.isItsOwn ? undefined : full(laneOf(candidate)));
    if (why !== undefined) {
      waiting.set(key, { lane: laneOf(candidate), forNode: busy.why ? node : undefined });
      return { granted: false, why };
    }
    waiting.delete(candidate.key);
    granted.set(candidate.name, candidate);
    return { granted: true, release: () => void granted.delete(candidate.name) };
  }

  /** Who works on the node, or is about to; a run that stands half-way holds its place already. */
  function busyWith({ node, name }: Pick<Candidate, 'node' | 'name'>): Busy {
    const open = runner.runsOn(node).filter(({ phase }) => phase !== 'ended');
    const other = open.find((run) => run.name !== name);
    const isItsOwn = open.length > 0;
    if (other) return { isItsOwn, why: `${other.name} is at work on node ${node}` };
    if (occupied(node)) {
      return { isItsOwn, why: `a Job of the deployed controller is at work on node ${node}` };
    }
    if ([...granted.values()].some((one) => one.node === node)) {
      return { isItsOwn, why: `another agent is being started on node ${node}` };
    }
    return { isItsOwn };
  }

  function active(): readonly Pick<Candidate, 'name' | 'action' | 'attempt'>[] {
    const shown = runner.open().filter((run) => holdsPlace(run, nodes.get(run.node)));
    const names = new Set(shown.map(({ name }) => name));
    return [...shown, ...[...granted.values()].filter(({ name }) => !names.has(name))];
  }

  function full(lane: Lane): string | undefined {
    const all = active();
    const most = limit();
    if (all.length >= most) {
      return `${all.length} agents are at work, no more than ${most} may be`;
    }
    const first = lane === 'check' ? undefined : firstOfImage(all);
    if (first !== undefined) {
      return `the agent image has completed no run in this cluster and works on one node at a time; ${first} is at work`;
    }
    const alike = all.filter((one) => laneOf(one) === lane).length;
    const mostAlike = limitOf(lane, most);
    return alike >= mostAlike
      ? `${alike} ${laneNames[lane]} are under way, no more than ${mostAlike} may be`
      : undefined;
  }

  /** Name of the run that an unproven image waits for. */
  function firstOfImage(all: ReturnType<typeof active>): string | undefined {
    return isImageProven() ? undefined : all.find(({ action }) => action !== 'check')?.name;
  }

  /** As many as may start now, and at least one of each kind: what made room may not show yet. */
  function wake(): readonly string[] {
    if (waiting.size === 0) return [];
    const all = active();
    const most = limit();
    const room = (lane: Lane): number => {
      if (lane !== 'check' && !isImageProven()) return 1;
      const alike = all.filter((one) => laneOf(one) === lane).length;
      return Math.max(1, Math.min(most - all.length, limitOf(lane, most) - alike));
    };
    const first = lanes.flatMap((lane) => ready(lane).slice(0, room(lane)));
    for (const key of first) waiting.delete(key);
    return first;
  }

  /** Those that wait for a place of this kind, the longest first, and not for their node. */
  function ready(lane: Lane): string[] {
    return [...waiting].flatMap(([key, one]) => {
      if (one.lane !== lane) return [];
      const { forNode } = one;
      return forNode !== undefined && busyWith({ node: forNode, name: '' }).why ? [] : [key];
    });
  }

  return { request, wake };
}

/**
 * Whether a run takes a place of those that may be at work at once: one that is being ended does not, none whose agent has
 * ended though its Job has not (a sidecar that stays), and none on a node that does not answer. Each may last for ever, and
 * none is work for the cluster.
 */
function holdsPlace({ phase }: Run, node: Node | undefined): boolean {
  return phase !== 'ending' && phase !== 'ended' && (node === undefined || isReady(node) !== false);
}
