import type { Pod } from '../../src/kube/core-resources.ts';

/**
 * How a Pod is to go wrong: `lost` ends without a termination message, `oom` is killed for its memory, `evicted` is
 * thrown off the node, `neverStarts` stays in ContainerCreating, `imagePull` gets no image. With `kubeletDies` the
 * kubelet ends as soon as it has told that the agent runs, with `kubeletDiesUnheard` before that; the agent goes on.
 */
export type Failure =
  | 'lost'
  | 'oom'
  | 'evicted'
  | 'neverStarts'
  | 'imagePull'
  | 'kubeletDies'
  | 'kubeletDiesUnheard';

interface Ordered {
  readonly failure: Failure;
  /** Start of the Pod's name; without one the next Pod is meant. */
  readonly pod: string | undefined;
}

/** Failures that were asked for, each for one Pod. */
export class FailureOrders {
  readonly #orders: Ordered[] = [];

  order(failure: Failure, pod: string | undefined): void {
    this.#orders.push({ failure, pod });
  }

  /** The failure that this Pod is to have; it is used up. */
  take(pod: Pod): Failure | undefined {
    const { name } = pod.metadata;
    const index = this.#orders.findIndex((order) => name.startsWith(order.pod ?? ''));
    return index < 0 ? undefined : this.#orders.splice(index, 1)[0]?.failure;
  }
}
