import type { Effect } from '../../../../api/effects.ts';
import type { Perform } from '../../../../process/effects.ts';
import type { DeliveryFilter, RecordedDelivery } from '../../../../store/deliveries.ts';
import type { Author, StoredNode } from '../../../../store/node-configs.ts';
import type { RemovalBases } from '../../../../store/removal-bases.ts';
import type { DeliveredNics } from '../../../../store/server-nics.ts';
import type { Store } from '../../../../store/store.ts';
import type { Clock } from '../../../../time/clock.ts';
import { withDeadline } from '../../../../time/deadline.ts';
import { StepFailure } from '../../../model/step-failure.ts';

/**
 * The inventory, a legacy Viola's only record of sent nodes. Every method throws StepFailure when the database fails:
 * an index in use must not be assigned twice.
 */
export interface DeliveryRecords {
  find(filter: DeliveryFilter): Promise<readonly RecordedDelivery[]>;
  /** Returns these servers' NICs at their last delivery. */
  nicsOf(serverIds: readonly string[]): Promise<readonly DeliveredNics[]>;
  /** Returns whether the inventory has nodes of an OpenstackConfig, or NICs of these servers. */
  knows(author: Pick<Author, 'namespace' | 'name'>, serverIds: readonly string[]): Promise<boolean>;
  /** Stores NIC indexes before the POST. */
  reserve(nodes: readonly Omit<StoredNode, 'uid' | 'generation'>[]): Promise<void>;
  /** Records sent or accepted nodes, deletes the records of `gone`, and logs the removals with their bases. */
  add(
    providerId: string,
    author: Author,
    nodes: readonly StoredNode[],
    gone?: readonly string[],
    bases?: RemovalBases,
  ): Promise<void>;
}

interface DeliveryRecordsDeps {
  readonly store: Pick<Store, 'add' | 'deliveries' | 'nicsOf' | 'nodesOf' | 'reserve'>;
  readonly perform: Perform<Effect>;
  readonly clock: Clock;
}

/** Database timeout in milliseconds; a working database needs milliseconds for 100 nodes. */
const timeoutMs = 10_000;

export function createDeliveryRecords({
  store,
  perform,
  clock,
}: DeliveryRecordsDeps): DeliveryRecords {
  async function withTimeout<T>(what: 'read' | 'written', work: () => Promise<T>): Promise<T> {
    try {
      return await withDeadline({ clock, ms: timeoutMs }, work);
    } catch (cause) {
      const message = `the inventory database cannot be ${what}; until it works, no node is sent, because a legacy Viola has no other record of its nodes`;
      throw new StepFailure({ reason: 'ViolaPostError', message }, { cause });
    }
  }

  async function write(work: () => Promise<void>): Promise<void> {
    await perform('operator.inventory.write', async () => withTimeout('written', work));
  }

  return {
    find: async (filter) => withTimeout('read', async () => store.deliveries(filter)),
    nicsOf: async (serverIds) => withTimeout('read', async () => store.nicsOf(serverIds)),
    knows: async (author, serverIds) =>
      withTimeout('read', async () => {
        if ((await store.nodesOf(author)).size > 0) return true;
        return (await store.nicsOf(serverIds)).some(({ interfaces }) => interfaces.length > 0);
      }),
    reserve: async (nodes) => write(async () => store.reserve(nodes)),
    add: async (...values) => write(async () => store.add(...values)),
  };
}
