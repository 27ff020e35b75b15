import type { NodeConfigStatus } from '../api/multinicnodeconfig.ts';
import { canonicalJson } from '../api/spec-hash.ts';
import type { Change } from '../kube/cache/store.ts';
import { keyOf } from '../kube/object.ts';
import type { NodeConfig } from './node-config.ts';

/**
 * Statuses on their way to the server. What comes back of one is no news to the visit that writes it: an object would else
 * come again at once whenever its status changed, and a refusal that is never put in the same words twice would be tried
 * without a pause.
 */
export class OwnWrites {
  readonly #underWay = new Map<string, string>();

  /** Carries out the write of this status; whatever else changes the object meanwhile stays news. */
  async during<T>(
    config: NodeConfig,
    status: NodeConfigStatus,
    write: () => Promise<T>,
  ): Promise<T> {
    const key = keyOf(config);
    this.#underWay.set(key, canonicalJson([identityOf(config), status]));
    try {
      return await write();
    } finally {
      this.#underWay.delete(key);
    }
  }

  /** Whether a change is a write under way that has come back, and nothing else. */
  has({ type, key, object }: Change<NodeConfig>): boolean {
    if (type !== 'updated') return false;
    return this.#underWay.get(key) === canonicalJson([identityOf(object), object.status]);
  }
}

function identityOf({ metadata }: NodeConfig) {
  const { resourceVersion: _, ...identity } = metadata;
  return identity;
}
