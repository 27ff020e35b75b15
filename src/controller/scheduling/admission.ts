import type { JobAction } from '../../api/job.ts';
import type { Node } from '../../kube/core-resources.ts';
import type { Run, Runner } from '../jobs/runner.ts';
import { isReady } from '../objects/machine.ts';

/** A run requesting permission to start. */
interface Candidate {
  /** Object key, enqueued when capacity is free. */
  readonly key: string;
  readonly node: string;
  /** Run name: a prepared run may continue. */
  readonly name: string;
  readonly action: JobAction;
  readonly attempt: number;
}

type Permission =
  /** Call `release` when the start succeeded or was aborted. */
  { readonly granted: true; release(): void } | { readonly granted: false; readonly why: string };

/** Decides on which nodes an agent may run now. */
export interface Admission {
  request(candidate: Candidate): Permission;
  /** Removes and returns waiting keys that may retry, longest waiting first. */
  wake(): readonly string[];
}

export interface AdmissionOptions {
  readonly runner: Pick<Runner, 'runsOn' | 'open'>;
  readonly nodes: { get(name: string): Node | undefined };
  /** True if a legacy controller's agent runs on the node. */
  readonly occupied: (node: string) => boolean;
  /** Maximum number of agents running at once. */
  readonly limit: () => number;
  /**
   * True if an agent with the current image has reported in this cluster; before, only one agent runs at a time, checks
   * excepted.
   */
  readonly isImageProven: () => boolean;
}

const lanes = ['change', 'cleanup', 'retry', 'check'] as const;
type Lane = (typeof lanes)[number];
const laneNames = {
  change: 'changes',
  cleanup: 'clean-ups',
  retry: 'retries',
  check: 'checks',
} as const satisfies Record<Lane, string>;

interface Waiting {
  readonly lane: Lane;
  /** Node blocked by another agent run; undefined: the wait is for capacity. */
  readonly forNode: string | undefined;
}

interface Busy {
  readonly why?: string;
  /** True if the run itself already exists, prepared but not started. */
  readonly isItsOwn: boolean;
}

function laneOf({ action, attempt }: Pick<Candidate, 'action' | 'attempt'>): Lane {
  if (action !== 'apply') return action;
  return attempt > 1 ? 'retry' : 'change';
}

/** Returns the run limit for a lane; `most`: limit for all lanes together. */
function limitOf(lane: Lane, most: number): number {
  if (lane === 'change') return most;
  return Math.max(1, Math.floor(most / (lane === 'check' ? 4 : 2)));
}

/**
 * Limits agent runs to one per node and to a maximum per cluster. Retries and clean-ups each use at most half the
 * slots, checks a quarter: hence no amount of retries, clean-ups or checks can block changes.
 */
export function createAdmission(options: AdmissionOptions): Admission {
  const { runner, nodes, occupied, limit, isImageProven } = options;
  // Granted runs not yet visible in the store. A restart loses this map safely: a new process has granted nothing.
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

  /** Returns the run that occupies the node or is about to start on the node. A prepared run already has its slot. */
  function busyWith({ node, name }: Pick<Candidate, 'node' | 'name'>): Busy {
    const open = runner.runsOn(node).filter(({ phase }) => phase !== 'ended');
    const other = open.find((run) => run.name !== name);
    const isItsOwn = open.length > 0;
    if (other) return { isItsOwn, why: `Job ${other.name} is running on node ${node}` };
    if (occupied(node)) {
      return { isItsOwn, why: `a Job of the legacy controller is running on node ${node}` };
    }
    if ([...granted.values()].some((one) => one.node === node)) {
      return { isItsOwn, why: `another agent is starting on node ${node}` };
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
      return `${all.length} of at most ${most} agents are running`;
    }
    const first = lane === 'check' ? undefined : firstOfImage(all);
    if (first !== undefined) {
      return `the agent image has not completed a run in this cluster and is used on one node at a time; Job ${first} is running`;
    }
    const alike = all.filter((one) => laneOf(one) === lane).length;
    const mostAlike = limitOf(lane, most);
    return alike >= mostAlike
      ? `${alike} of at most ${mostAlike} ${laneNames[lane]} are running`
      : undefined;
  }

  /** Returns the run that blocks further runs while the image is unproven. */
  function firstOfImage(all: ReturnType<typeof active>): string | undefined {
    return isImageProven() ? undefined : all.find(({ action }) => action !== 'check')?.name;
  }

  /** Wakes as many waiting runs as may start now, at least one per lane: freed capacity may not be visible yet. */
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

  /** Returns waiting keys in a lane, longest first, without keys whose node is still busy. */
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
 * True if a run counts against the limit. Not counted: runs being deleted, Jobs with a finished agent (a sidecar keeps
 * running), and runs on unreachable nodes. Each may last forever and causes no cluster load.
 */
function holdsPlace({ phase }: Run, node: Node | undefined): boolean {
  return phase !== 'ending' && phase !== 'ended' && (node === undefined || isReady(node) !== false);
}
