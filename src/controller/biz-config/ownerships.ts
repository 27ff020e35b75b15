import type { BizSource } from '../../biz-config/ownership.ts';
import { mapBounded } from '../../process/bounded.ts';
import type { NodeConfig } from '../objects/stores.ts';
import type { LiveObjects, Ownership } from './live-objects.ts';

/** Concurrent reads and writes per source. */
export const connections = 8;

interface Known {
  readonly uid: string | undefined;
  readonly generation: number | undefined;
  readonly ownership: Ownership;
}

/**
 * Ownership reads for one source's objects, by name. A result is valid for one object generation; deletions and
 * releases read again.
 */
export class Ownerships {
  readonly #known = new Map<string, Known>();

  isForeign(config: NodeConfig): boolean {
    return this.#of(config) === 'foreign';
  }

  /** Reads objects not read before; returns true if any has a foreign owner. */
  async read(
    live: Pick<LiveObjects, 'ownership'>,
    configs: readonly NodeConfig[],
    source: BizSource,
    signal: AbortSignal,
  ): Promise<boolean> {
    let isChanged = false;
    const unread = configs.filter((config) => this.#of(config) === undefined);
    await mapBounded(unread, connections, async (config) => {
      const ownership = await live.ownership(config, source, signal);
      this.set(config, ownership);
      isChanged ||= ownership === 'foreign';
    });
    return isChanged;
  }

  set({ metadata: { name, uid, generation } }: NodeConfig, ownership: Ownership): void {
    this.#known.set(name, { uid, generation, ownership });
  }

  /** Drops an object's result, which is then read again. */
  forget({ metadata }: NodeConfig): void {
    this.#known.delete(metadata.name);
  }

  /** Drops results for objects not in this list. */
  keep(configs: readonly NodeConfig[]): void {
    const names = new Set(configs.map(({ metadata }) => metadata.name));
    for (const name of this.#known.keys()) if (!names.has(name)) this.#known.delete(name);
  }

  #of({ metadata: { name, uid, generation } }: NodeConfig): Ownership | undefined {
    const known = this.#known.get(name);
    return known?.uid === uid && known?.generation === generation ? known?.ownership : undefined;
  }
}
