import type { Change } from '../../kube/cache/store.ts';
import { refOf } from '../../kube/object.ts';
import type { NodeConfig, Stores } from '../objects/stores.ts';
import { Counted, type Totals } from './counts.ts';
import type { LedgerEntry } from './ledger-buckets.ts';
import { type ActiveShare, packed, shareOf, unpacked, type Weight } from './shares.ts';

/** What the objects contribute to totals and budget use. */
export class ObjectShares {
  readonly #nodes: Pick<Stores['nodes'], 'versionOf'>;
  readonly #weights = new Map<string, Weight>();
  /** Counted removals by key, as text: ten thousand objects may be deleted at once. */
  readonly #active = new Map<string, string>();
  /** Nodes of objects with a different name, by key. */
  readonly #nodeNames = new Map<string, string>();
  /** Distinct weights: thousands of objects share one. */
  readonly #distinct = new Map<string, Weight>();
  #version = 0;

  constructor(nodes: Pick<Stores['nodes'], 'versionOf'>) {
    this.#nodes = nodes;
  }

  /** Number that changes with the counted removals. */
  get version(): number {
    return this.#version;
  }

  /** Returns the node of the changed object; undefined: the object is gone. */
  take({ type, key, object }: Change<NodeConfig>, now: Date): string | undefined {
    const share = type === 'deleted' ? undefined : shareOf(object, now);
    const node = share?.node;
    if (share) this.#weights.set(key, this.#interned(share, this.#weights.get(key)));
    else this.#weights.delete(key);
    if (node === undefined || node === object.metadata.name) this.#nodeNames.delete(key);
    else this.#nodeNames.set(key, node);
    this.#takeActive(key, share?.active && packed(share.active));
    return node;
  }

  /** Ignores status writes that change no removal. */
  #takeActive(key: string, text: string | undefined): void {
    if (text === this.#active.get(key)) return;
    this.#version += 1;
    if (text === undefined) this.#active.delete(key);
    else this.#active.set(key, text);
  }

  #interned({ config, nics }: Weight, before: Weight | undefined): Weight {
    if (before?.config === config && before.nics === nics) return before;
    const text = `${nics} ${config}`;
    const weight = this.#distinct.get(text) ?? { config, nics };
    this.#distinct.set(text, weight);
    return weight;
  }

  /** Returns nodes and NICs in the cluster; objects whose Node is gone do not enlarge the budget. */
  totals(): Totals {
    const nodes = new Set<string>();
    const ofConfigs = new Map<string, number>();
    let all = 0;
    for (const [key, { nics, config }] of this.#weights) {
      const node = this.#nodeNames.get(key) ?? refOf(key).name;
      if (nics === 0 || this.#nodes.versionOf(node) === undefined) continue;
      nodes.add(node);
      all += nics;
      if (config !== '') ofConfigs.set(config, (ofConfigs.get(config) ?? 0) + nics);
    }
    return { nodes, nics: all, ofConfigs };
  }

  /** Counts removals in the last hour, and the open acts for which `counts` returns true. */
  count(
    entries: readonly LedgerEntry[],
    totals: Totals,
    counts: (key: string) => boolean,
    now: Date,
  ): Counted {
    const counted = new Counted(totals);
    for (const { node, config = '', macs } of entries) {
      for (const mac of macs) counted.addGone(config, node, mac);
    }
    for (const [key, text] of this.#active) {
      const weight = this.#weights.get(key);
      if (weight) {
        counted.addActive(weight.config, unpacked(text), now.getTime(), () => counts(key));
      }
    }
    return counted;
  }

  /** Returns NICs that the object's open act removes now, whether the act counts or not. */
  pendingOf(key: string, now: Date): ActiveShare['pending'] {
    const text = this.#active.get(key);
    if (text === undefined) return [];
    return unpacked(text).pending.filter(({ from }) => from <= now.getTime());
  }
}
