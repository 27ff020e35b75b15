import type { NodeConfigStatus } from '../../api/multinicnodeconfig.ts';
import { isSameJson } from '../../api/same-json.ts';
import type { Change } from '../../kube/cache/store.ts';
import { keyOf } from '../../kube/object.ts';
import type { NodeConfig } from '../objects/stores.ts';

/**
 * Status writes under way. A watch event caused by an own write must not requeue the object: otherwise each status
 * change would requeue immediately, and a refusal whose text changes each time would be retried without backoff.
 */
export class OwnWrites {
  readonly #underWay = new Map<string, UnderWay>();

  /** Runs the write of this status; other changes to the object meanwhile still enqueue. */
  async during<T>(
    config: NodeConfig,
    status: NodeConfigStatus,
    write: () => Promise<T>,
  ): Promise<T> {
    const key = keyOf(config);
    this.#underWay.set(key, { identity: identityOf(config), status });
    try {
      return await write();
    } finally {
      this.#underWay.delete(key);
    }
  }

  /** True if the change equals a write under way. */
  has({ type, key, object }: Change<NodeConfig>): boolean {
    const underWay = this.#underWay.get(key);
    if (type !== 'updated' || !underWay) return false;
    const { identity, status } = underWay;
    return isSameJson(identity, identityOf(object)) && isSameJson(object.status, status);
  }
}

interface UnderWay {
  readonly identity: ReturnType<typeof identityOf>;
  readonly status: NodeConfigStatus;
}

function identityOf({ metadata }: NodeConfig) {
  const { resourceVersion: _, ...identity } = metadata;
  return identity;
}
