import { annotations, businessGroup } from '../api/names.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { crds, namespaces } from '../kube/core-resources.ts';
import type { Clock } from '../time/clock.ts';
import { type NodeConfig, nodeConfigs } from './node-config.ts';
import { sharedReads } from './shared-reads.ts';
import { deletedAt, hasConsent, type Stores } from './stores.ts';

/** Deletions within this time of each other are one. */
const windowMs = 60_000;
/** How long a deletion waits for those that come with it. */
const settleMs = 3_000;
/** So many objects may always go: in a small cluster each is a large part. */
const alwaysAllowed = 3;
const allowedPart = 0.2;

export type Leave =
  | { readonly kind: 'granted' }
  | { readonly kind: 'early'; readonly forMs: number }
  | { readonly kind: 'asked'; readonly message: string };

export interface DeletionGuard {
  /** Whether the node of an object may be cleaned because the object is being deleted. */
  ask(config: NodeConfig, signal: AbortSignal): Promise<Leave>;
  /** The object was let go: it counts for a while. */
  gone(config: NodeConfig): void;
}

export interface DeletionGuardOptions {
  readonly client: Pick<KubeClient, 'find'>;
  readonly stores: Stores;
  readonly namespace: string;
  readonly clock: Clock;
}

/**
 * Asks before a slip takes the NICs of a whole cluster: many objects at once, their namespace or their kind, deleted
 * without the consent that Viola writes.
 */
export function createDeletionGuard(options: DeletionGuardOptions): DeletionGuard {
  const { client, stores, namespace, clock } = options;
  const seen = new Map<string, number>();
  let released: readonly Date[] = [];
  const readTerminating = sharedReads(async (signal) => {
    const crdName = `${nodeConfigs.plural}.${businessGroup}`;
    const [home, kind] = await Promise.all([
      client.find(namespaces, { name: namespace }, { signal }),
      client.find(crds, { name: crdName }, { signal }),
    ]);
    if (home?.metadata.deletionTimestamp) return `namespace ${namespace} is being deleted`;
    return kind?.metadata.deletionTimestamp ? `the kind ${crdName} is being deleted` : undefined;
  });

  async function ask(config: NodeConfig, signal: AbortSignal): Promise<Leave> {
    if (hasConsent(config)) return { kind: 'granted' };
    const { uid = '' } = config.metadata;
    const since = seen.get(uid) ?? clock.monotonicMs();
    seen.set(uid, since);
    const message = many(config) ?? (await readTerminating(signal));
    if (message !== undefined) return { kind: 'asked', message: `${message}; ${nextStep}` };
    const forMs = since + settleMs - clock.monotonicMs();
    return forMs > 0 ? { kind: 'early', forMs } : { kind: 'granted' };
  }

  function many(config: NodeConfig): string | undefined {
    const at = deletedAt(config)?.getTime() ?? 0;
    const isNear = (one: Date): boolean => Math.abs(one.getTime() - at) <= windowMs;
    const earlier = released.filter(isNear).length;
    let count = earlier;
    for (let ms = at - windowMs; ms <= at + windowMs; ms += 1_000) {
      count += stores.leavingSince(new Date(ms));
    }
    const all = stores.configs.size + earlier;
    if (count <= Math.max(alwaysAllowed, all * allowedPart)) return undefined;
    return `${count} of ${all} objects were deleted within a minute`;
  }

  function gone(config: NodeConfig): void {
    seen.delete(config.metadata.uid ?? '');
    if (hasConsent(config)) return;
    const at = deletedAt(config) ?? new Date(0);
    released = [...released.filter((one) => at.getTime() - one.getTime() <= windowMs), at];
  }

  return { ask, gone };
}

const nextStep = `if that was meant, annotate them ${annotations.deleteConsent}=<RFC 3339 time>`;
