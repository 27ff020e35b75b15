import type { Effect } from '../api/effects.ts';
import type { HeldNode } from '../api/node-configs-http.ts';
import { isOwn } from '../plan/claims.ts';
import type { Owner } from '../plan/plan.ts';
import type { Perform } from '../process/effects.ts';
import type { Logger } from '../process/log.ts';
import type { Author, StoredNode } from '../store/node-configs.ts';
import type { Store } from '../store/store.ts';
import type { Rounds } from './deliver/delivery-rounds.ts';

type Name = Pick<Author, 'namespace' | 'name'>;

/** The store as the operator uses it: a cache, so that a database which is down holds nothing up. */
export interface Inventory {
  /** Recorded nodes of an OpenstackConfig by business cluster; empty when that cannot be read. */
  nodesOf(author: Name): Promise<ReadonlyMap<string, readonly string[]>>;
  /** Makes the records of an OpenstackConfig in a business cluster equal to `nodes`; the next sync repeats a failure. */
  record(providerId: string, author: Author, nodes: readonly StoredNode[]): Promise<void>;
  /** Removes every record of an OpenstackConfig that is gone. */
  forget(author: Name): Promise<void>;
  /** Every OpenstackConfig that has records; empty when that cannot be read. */
  authors(): Promise<readonly Name[]>;
}

export interface InventoryDeps {
  readonly store: Pick<Store, 'authors' | 'nodesOf' | 'record'>;
  readonly perform: Perform<Effect>;
  readonly log: Logger;
}

export function createInventory({ store, perform, log }: InventoryDeps): Inventory {
  async function read<T>(what: () => Promise<T>, otherwise: T): Promise<T> {
    try {
      return await what();
    } catch (error) {
      log.error({ err: error }, 'inventory not read, going on without it');
      return otherwise;
    }
  }

  const inventory: Inventory = {
    nodesOf: async (author) => read(async () => store.nodesOf(author), new Map()),
    authors: async () => read(async () => store.authors(), []),
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
    async forget(author) {
      for (const provider of (await inventory.nodesOf(author)).keys()) {
        await inventory.record(provider, { ...author, generation: 0 }, []);
      }
    },
  };
  return inventory;
}

/** The OpenstackConfig's nodes as the business cluster holds them after a delivery: what the inventory shows. */
export function nodesAfter({ held, nodes: plans, delivery }: Rounds, owner: Owner): StoredNode[] {
  const nodes = new Map(
    held.filter((node) => isOwn(node, owner)).map((node) => [node.nodeName, storedFrom(node)]),
  );
  const posted = plans.filter(({ action }) => action === 'post');
  const planned = new Map(posted.map((node) => [node.nodeName, node]));
  for (const { nodeName, uid, generation } of delivery.accepted) {
    const node = planned.get(nodeName);
    if (!node) continue;
    const { instanceId, interfaces } = node;
    nodes.set(nodeName, { nodeName, instanceId, interfaces, uid, generation });
  }
  return [...nodes.values()];
}

function storedFrom({ nodeName, uid, generation, spec }: HeldNode): StoredNode {
  const { instanceId = '', interfaces = [] } = spec;
  return { nodeName, instanceId, interfaces, uid, generation };
}
