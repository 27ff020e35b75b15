import type { Node } from '../../kube/core-resources.ts';
import type { Clock } from '../../time/clock.ts';
import { recordOf } from '../jobs/applied.ts';
import { deletedAt, type NodeConfig, type Stores } from '../objects/stores.ts';
import { successorOf } from '../records/meaning.ts';
import { findTarget } from '../target.ts';
import { staysFor } from './losses.ts';
import { openLosses } from './shares.ts';

type Objects = Pick<Stores, 'configs' | 'nodeDirectory' | 'meaning'>;

/** Decides which open acts count in the budget. Answers are cached, because an answer parses the object. */
export class NamedActs {
  readonly #stores: Objects;
  readonly #clock: Pick<Clock, 'now'>;
  /** Whether the open act of an object counts, by key. Objects for the same node decide this too. */
  readonly #examined = new Map<string, boolean>();
  /** Keys in `#examined` by node of the open act. */
  readonly #examinedOn = new Map<string, Set<string>>();

  constructor(stores: Objects, clock: Pick<Clock, 'now'>) {
    this.#stores = stores;
    this.#clock = clock;
  }

  /**
   * True if the object's act removes NICs from a node. Deletions with a successor listing the NICs, and changed node
   * references, are no named acts. A missing Node may register again: the act still counts.
   */
  has(key: string): boolean {
    const known = this.#examined.get(key);
    if (known !== undefined) return known;
    const config = this.#stores.configs.get(key);
    if (!config) return false;
    const target = findTarget(config, this.#stores.nodeDirectory);
    const counts = target.kind === 'none' || this.#hasLoss(config, target.node);
    this.#examined.set(key, counts);
    if (target.kind === 'none') return counts;
    const { name } = target.node.metadata;
    this.#examinedOn.set(name, (this.#examinedOn.get(name) ?? new Set()).add(key));
    return counts;
  }

  /** True if spec or deletion removes the object's NICs from the node, as a named act. */
  #hasLoss(config: NodeConfig, node: Node): boolean {
    const record = recordOf(config);
    if (record && record.nodeName !== node.metadata.name) return deletedAt(config) !== undefined;
    const successor = deletedAt(config) ? successorOf(config, node, this.#stores) : undefined;
    return openLosses(config, this.#clock.now(), staysFor(successor, config)).length > 0;
  }

  /**
   * Drops answers that a changed object may change. An object that appears, changes or goes may be the successor of
   * another object for its node. `node`: node of the object; undefined: the object is gone.
   */
  drop(key: string, object: NodeConfig, node = object.metadata.name): void {
    this.#examined.delete(key);
    if (this.#examined.size === 0) return;
    const target = findTarget(object, this.#stores.nodeDirectory);
    const named = target.kind === 'none' ? [] : [target.node.metadata.name];
    for (const one of new Set([...named, node])) {
      for (const other of this.#examinedOn.get(one) ?? []) this.#examined.delete(other);
      this.#examinedOn.delete(one);
    }
  }
}
