import type { Effect } from '../api/effects.ts';
import type { Perform } from '../process/effects.ts';
import type { Logger } from '../process/log.ts';
import type { Author, StoredNode } from '../store/node-configs.ts';
import type { Store } from '../store/store.ts';

type Name = Pick<Author, 'namespace' | 'name'>;

/** The store as the operator uses it: a cache, so that a database which is down holds nothing up. */
export interface Inventory {
  /** Recorded nodes of an OpenstackConfig by business cluster; empty when that cannot be read. */
  nodesOf(author: Name): Promise<ReadonlyMap<string, readonly string[]>>;
  /** Makes the records of an OpenstackConfig in a business cluster equal to `nodes`; the next sync repeats a failure. */
  record(providerId: string, author: Author, nodes: readonly StoredNode[]): Promise<void>;
}

export interface InventoryDeps {
  readonly store: Pick<Store, 'nodesOf' | 'record'>;
  readonly perform: Perform<Effect>;
  readonly log: Logger;
}

export function createInventory({ store, perform, log }: InventoryDeps): Inventory {
  return {
    async nodesOf(author) {
      try {
        return await store.nodesOf(author);
      } catch (error) {
        log.error({ err: error }, 'inventory not read, going on without it');
        return new Map();
      }
    },
    async record(providerId, author, nodes) {
      try {
        await perform('operator.inventory.write', async () =>
          store.record(providerId, author, nodes),
        );
      } catch (error) {
        log.error(
          { err: error, providerId },
          'inventory not written, tried again at the next sync',
        );
      }
    },
  };
}
