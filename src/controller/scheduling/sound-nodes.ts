import type { Node } from '../../kube/core-resources.ts';
import type { Clock } from '../../time/clock.ts';
import { isReady } from '../objects/machine.ts';
import type { AdmittedChanges } from './admitted-changes.ts';
import type { CountedRun } from './rollout-node.ts';
import type { RolloutNodes } from './rollout-nodes.ts';

export interface SoundNodesOptions {
  readonly records: Pick<RolloutNodes, 'get' | 'started' | 'candidates'>;
  readonly admitted: Pick<AdmittedChanges, 'to'>;
  readonly nodes: { get(name: string): Node | undefined };
  /** True if a result may still come. */
  readonly isAwaited: (run: CountedRun) => boolean;
  /** True if a revision's rollout is stopped. */
  readonly isStopped: (revision: string) => boolean;
}

/**
 * True if a sound node is changing to the revision, or can change: last run done, Node ready. All failed nodes follow
 * afterwards: a broken node says nothing about a revision.
 */
export function hasSoundNode(
  revision: string,
  except: string | undefined,
  { records, admitted, nodes, isAwaited, isStopped }: SoundNodesOptions,
): boolean {
  for (const [key, run] of records.started(revision)) {
    if (key !== except && !run.failedBefore && isAwaited(run)) return true;
  }
  const isSound = (key: string): boolean => key !== except && records.get(key)?.isDone === true;
  if (admitted.to(revision).some(({ key }) => isSound(key))) return true;
  return records.candidates(revision).some((key) => {
    if (key === except) return false;
    const { node: name, ahead = [] } = records.get(key) ?? {};
    const node = name === undefined ? undefined : nodes.get(name);
    if (node === undefined || isReady(node) === false) return false;
    const { beside = [] } = ahead.find((one) => one.revision === revision) ?? {};
    // NICs that need a stopped revision, too, stay unchanged.
    return beside.length === 0 || beside.some((needed) => !needed.some(isStopped));
  });
}

/** Time for a writer to write an edit's objects, in milliseconds. */
const editMs = 15_000;
const mostRevisions = 100;

/** First requests by failed nodes, per revision: sound nodes' objects may still get the same edit. */
export class FirstRequests {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #since = new Map<string, number>();

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** Returns milliseconds until a failed node may be first in the revision. */
  restMs(revision: string): number {
    const now = this.#clock.monotonicMs();
    const since = this.#since.get(revision) ?? now;
    this.#since.delete(revision);
    this.#since.set(revision, since);
    const [oldest] = this.#since.keys();
    if (this.#since.size > mostRevisions && oldest !== undefined) this.#since.delete(oldest);
    return Math.max(0, since + editMs - now);
  }
}
