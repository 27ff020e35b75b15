import { findCondition } from '../../api/condition.ts';
import { nodeReadyType } from '../../api/multinicnodeconfig.ts';
import type { Reason } from '../../api/reasons.ts';
import type { Node } from '../../kube/core-resources.ts';
import { keyOf } from '../../kube/object.ts';
import type { Clock } from '../../time/clock.ts';
import { isReady, readyOf, readySince } from './machine.ts';
import type { NodeConfig } from './stores.ts';

/** Time without Ready until the state of a node's NICs counts as unknown: a shorter flap costs no status write. */
const unreadyAfterMs = 5 * 60_000;

export const nodeNotReady = 'NodeNotReady' satisfies Reason;

/** A node that is not ready. */
interface UnreadyNode {
  /** Undefined: not ready for less than five minutes. */
  readonly message: string | undefined;
  /** Milliseconds until the message; 0: the message is present. */
  readonly inMs: number;
}

/** A node's Ready as last observed. */
interface Observation {
  readonly uid: string | undefined;
  readonly ready: string | undefined;
  readonly transition: string | undefined;
}

interface Absence {
  readonly observed: Observation;
  readonly sinceMs: number;
}

/** First observations of nodes that are not ready, by object. Times are from this controller: a node's clock may be off. */
export class UnreadyNodes {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #known = new Map<string, Absence>();

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** Returns the object's node if not ready; undefined: ready, or not reported. */
  of(config: NodeConfig, node: Node): UnreadyNode | undefined {
    const key = keyOf(config);
    if (isReady(node) !== false) {
      this.#known.delete(key);
      return undefined;
    }
    const { name, uid } = node.metadata;
    const observed = { uid, ready: readyOf(node)?.status, transition: readySince(node) };
    const inMs = namesUnready(config.status) ? 0 : this.#inMs(key, observed);
    const message = `node ${name} has not been ready for five minutes; the state of its NICs is unknown`;
    return { message: inMs === 0 ? message : undefined, inMs };
  }

  /** Call when the object is gone. */
  forget(key: string): void {
    this.#known.delete(key);
  }

  #inMs(key: string, observed: Observation): number {
    const now = this.#clock.monotonicMs();
    const known = this.#known.get(key);
    const sinceMs = known && !wasReady(known.observed, observed) ? known.sinceMs : now;
    this.#known.set(key, { observed, sinceMs });
    return Math.max(0, sinceMs + unreadyAfterMs - now);
  }
}

/** True if Ready was True between two observations; False and Unknown in turns are one absence. */
function wasReady(before: Observation, now: Observation): boolean {
  if (before.uid !== now.uid) return true;
  return before.ready === now.ready && before.transition !== now.transition;
}

/** True if the status says that the node has not been ready; a status by an earlier version says so in Ready only. */
function namesUnready(status: NodeConfig['status']): boolean {
  return findCondition(status?.conditions, nodeReadyType) !== undefined || showsUnready(status);
}

/** True if Ready is Unknown because the node has not been ready. */
export function showsUnready(status: NodeConfig['status']): boolean {
  const ready = findCondition(status?.conditions, 'Ready');
  return ready?.status === 'Unknown' && ready.reason === nodeNotReady;
}
