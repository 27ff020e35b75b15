import type { Runner } from './runner.ts';

/** A run that wants to start. */
export interface Candidate {
  /** Key of the object, to be woken when there is room. */
  readonly key: string;
  readonly node: string;
  /** Name of the run: one that stands half-way may go on. */
  readonly name: string;
}

export type Permission =
  /** `release` when the start was carried out or given up. */
  { readonly granted: true; release(): void } | { readonly granted: false; readonly why: string };

/** Decides which node may be worked on now; the place for canaries and waves. */
export interface Admission {
  request(candidate: Candidate): Permission;
  /** Takes keys that were refused off the waiting list, the ones that wait longest first: they may ask again. */
  wake(): readonly string[];
}

export interface AdmissionOptions {
  readonly runner: Pick<Runner, 'runsOn' | 'active'>;
  /** Whether somebody else's agent works on the node. */
  readonly occupied: (node: string) => boolean;
  /** How many agents may be at work at once. */
  readonly limit: number;
}

/** One agent at a time on a node, and only so many in the whole cluster. */
export function createAdmission({ runner, occupied, limit }: AdmissionOptions): Admission {
  // What was granted and is not visible as a run yet; forgotten with the process, which grants nothing then.
  const granted = new Map<string, Candidate>();
  const waiting = new Set<string>();

  function request(candidate: Candidate): Permission {
    const why = refusal(candidate);
    if (why !== undefined) {
      waiting.add(candidate.key);
      return { granted: false, why };
    }
    waiting.delete(candidate.key);
    granted.set(candidate.name, candidate);
    return { granted: true, release: () => void granted.delete(candidate.name) };
  }

  function refusal({ node, name }: Candidate): string | undefined {
    const open = runner.runsOn(node).filter(({ phase }) => phase !== 'ended');
    const other = open.find((run) => run.name !== name);
    if (other) return `${other.name} is at work on node ${node}`;
    if (occupied(node)) return `a Job of the deployed controller is at work on node ${node}`;
    if ([...granted.values()].some((one) => one.node === node)) {
      return `another agent is being started on node ${node}`;
    }
    // A run that stands half-way holds its place already.
    return open.length > 0 ? undefined : full();
  }

  function full(): string | undefined {
    const active = runner.active() + granted.size;
    return active >= limit
      ? `${active} agents are at work, no more than ${limit} may be`
      : undefined;
  }

  function wake(): readonly string[] {
    const first = [...waiting].slice(0, limit);
    for (const key of first) waiting.delete(key);
    return first;
  }

  return { request, wake };
}
