import { dataOf } from '../../../runtime/events/event-text.ts';
import { type NodeRow, viewOf } from '../read-api/config-reads.ts';
import { isVisibleTo } from '../read-api/visible-configs.ts';
import { type Fleet, nodeKey, type RowChange } from './fleet.ts';

/** Rendered rows in memory: readers with equal positions need equal rows. */
const longestCache = 200;

/**
 * Renders a fleet's rows when a reader needs a row. With 10 NICs per node a ring takes 45 MB as
 * rendered rows, and 1.4 MB as keys.
 */
export class RenderedRows {
  readonly #fleet: Fleet;
  readonly #texts = new Map<string, string>();
  readonly #nodes = new Map<string, ReadonlyMap<string, NodeRow>>();

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  /** Returns a change as JSON: with the row in the reader's lists, or null. */
  dataOf({ kind, key }: RowChange, providers: readonly string[] | undefined): string {
    const place = placeOf(key);
    const config = this.#fleet.get(place.config);
    if (!config || !isVisibleTo(providers, config.clusters))
      return dataOf({ kind, key, row: null });
    const name = `${kind} ${key}`;
    const known = this.#texts.get(name);
    if (known !== undefined) return known;
    const text =
      kind === 'config'
        ? dataOf({ kind, key, row: config.row })
        : dataOf({ kind, key, row: this.#node(key, place) });
    const [oldest] = this.#texts.keys();
    if (this.#texts.size >= longestCache && oldest !== undefined) this.#texts.delete(oldest);
    this.#texts.set(name, text);
    return text;
  }

  #node(key: string, { config, nodeName }: Place) {
    const reads = this.#fleet.get(config)?.config.reads;
    if (!reads || nodeKey(reads, nodeName) !== key) return null;
    const nodes =
      this.#nodes.get(config) ?? new Map(reads.rows.map((row) => [row.nodeName, row] as const));
    this.#nodes.set(config, nodes);
    const row = nodes.get(nodeName);
    return row ? viewOf(reads, row) : null;
  }
}

interface Place {
  readonly config: string;
  readonly nodeName: string;
}

/** A key ends with `namespace/name`, after the node's name. */
function placeOf(key: string): Place {
  const parts = key.split('/');
  return { nodeName: parts.at(-3) ?? '', config: parts.slice(-2).join('/') };
}
