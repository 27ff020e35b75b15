import { findCondition } from '../../api/condition.ts';
import { annotations, businessGroup } from '../../api/names.ts';
import { allowedAtOnce, removalLimits } from '../../api/removals.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { crds, namespaces } from '../../kube/core-resources.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Clock } from '../../time/clock.ts';
import { sharedReads } from '../deletion/shared-reads.ts';
import {
  allowsRemovals,
  deletedAt,
  hasConsent,
  type NodeConfig,
  nodeConfigs,
  type Stores,
} from '../objects/stores.ts';
import type { Loss } from './losses.ts';

/** Removals within this time of each other are one. */
const windowMs = 60_000;
/** How long a removal waits for those that come with it. */
const settleMs = 3_000;

export type Leave =
  | { readonly kind: 'granted' }
  | { readonly kind: 'early'; readonly forMs: number }
  | { readonly kind: 'asked'; readonly message: string };

export interface RemovalGuard {
  /** Whether the node of an object may be cleaned because the object is being deleted. */
  askToDelete(config: NodeConfig, signal: AbortSignal): Promise<Leave>;
  /** Whether an edit of the object may take these NICs from a node. */
  askToEdit(config: NodeConfig, loss: Loss): Leave;
  /** The object takes nothing from any node. */
  takesNothing(config: NodeConfig): void;
  /** The object was let go: it counts for a while. */
  gone(config: NodeConfig): void;
}

export interface RemovalGuardOptions {
  readonly client: Pick<KubeClient, 'find'>;
  readonly stores: Pick<Stores, 'configs' | 'leavingSince'>;
  readonly namespace: string;
  readonly clock: Clock;
}

/** A removal that waits for those that come with it, or for consent. */
interface Pending {
  readonly at: Date;
  /** On the monotonic clock. */
  readonly since: number;
}

interface CarriedOut {
  readonly at: Date;
  readonly by: 'deletion' | 'edit';
}

/**
 * Asks before a mistake takes the NICs of a whole cluster: many nodes that lose NICs at once, by deletions or by edits, or the
 * namespace or kind deleted, without consent. Each object counts as one node.
 */
export function createRemovalGuard(options: RemovalGuardOptions): RemovalGuard {
  const { client, stores, namespace, clock } = options;
  const seen = new Map<string, number>();
  /** Edits that wait, by the uid of the object. */
  const edits = new Map<string, Pending>();
  /** Removals that are done or under way without consent, by the uid of the object. */
  const carriedOut = new Map<string, CarriedOut>();
  const readTerminating = sharedReads(async (signal) => {
    const crdName = `${nodeConfigs.plural}.${businessGroup}`;
    const [home, kind] = await Promise.all([
      client.find(namespaces, { name: namespace }, { signal }),
      client.find(crds, { name: crdName }, { signal }),
    ]);
    return endOf(`namespace ${namespace}`, home) ?? endOf(`the kind ${crdName}`, kind);
  });

  async function askToDelete(config: NodeConfig, signal: AbortSignal): Promise<Leave> {
    const { uid = '' } = config.metadata;
    forgetEdit(config);
    if (hasConsent(config)) {
      // Deleted first and agreed to later: the others that were deleted with it are as many as before.
      if (seen.delete(uid)) count(config, { at: deletedAt(config), by: 'deletion' });
      return { kind: 'granted' };
    }
    const before = askedBefore(config);
    if (before !== undefined) return { kind: 'asked', message: before };
    const since = seen.get(uid) ?? clock.monotonicMs();
    seen.set(uid, since);
    const message = many(deletedAt(config)) ?? (await readTerminating(signal));
    if (message !== undefined) return { kind: 'asked', message: `${message}; ${toDelete}` };
    return early(since) ?? { kind: 'granted' };
  }

  /** A deleted object counts as deleted, whatever was edited before. */
  function forgetEdit(config: NodeConfig): void {
    const { uid = '' } = config.metadata;
    edits.delete(uid);
    if (carriedOut.get(uid)?.by === 'edit') carriedOut.delete(uid);
  }

  function askToEdit(config: NodeConfig, loss: Loss): Leave {
    const { uid = '' } = config.metadata;
    if (allowsRemovals(config)) {
      edits.delete(uid);
      return { kind: 'granted' };
    }
    const what = `NICs ${loss.macs.join(', ')} would leave node ${loss.nodeName}: ${loss.why}`;
    if (loss.basis === 'sideEffect') return { kind: 'asked', message: `${what}; ${toEdit}` };
    const before = askedBefore(config);
    if (before !== undefined) return { kind: 'asked', message: before };
    const pending = edits.get(uid) ?? { at: clock.now(), since: clock.monotonicMs() };
    edits.set(uid, pending);
    const message = many(pending.at);
    if (message !== undefined) {
      return { kind: 'asked', message: `${what}, and ${message}; ${toEdit}` };
    }
    const wait = early(pending.since);
    if (wait) return wait;
    edits.delete(uid);
    count(config, { at: pending.at, by: 'edit' });
    return { kind: 'granted' };
  }

  function early(since: number): Leave | undefined {
    const forMs = since + settleMs - clock.monotonicMs();
    return forMs > 0 ? { kind: 'early', forMs } : undefined;
  }

  function many(when: Date | undefined): string | undefined {
    const at = when?.getTime() ?? 0;
    const isNear = (one: { readonly at: Date }) => Math.abs(one.at.getTime() - at) <= windowMs;
    const near = [...carriedOut, ...edits].filter(([, one]) => isNear(one));
    let together = new Set(near.map(([uid]) => uid)).size;
    for (let ms = at - windowMs; ms <= at + windowMs; ms += 1_000) {
      together += stores.leavingSince(new Date(ms));
    }
    const deleted = [...carriedOut.values()].filter((one) => one.by === 'deletion' && isNear(one));
    const all = stores.configs.size + deleted.length;
    if (together <= allowedAtOnce(all, removalLimits.nodesOfCluster)) return undefined;
    return `${together} of ${all} objects take NICs from their nodes within a minute`;
  }

  function gone(config: NodeConfig): void {
    seen.delete(config.metadata.uid ?? '');
    edits.delete(config.metadata.uid ?? '');
    if (!hasConsent(config)) count(config, { at: deletedAt(config), by: 'deletion' });
  }

  function count(
    { metadata }: NodeConfig,
    { at = new Date(0), by }: { readonly at: Date | undefined; readonly by: CarriedOut['by'] },
  ): void {
    carriedOut.set(metadata.uid ?? '', { at, by });
    for (const list of [carriedOut, edits]) {
      for (const [key, one] of list) {
        if (at.getTime() - one.at.getTime() > windowMs) list.delete(key);
      }
    }
  }

  return {
    askToDelete,
    askToEdit,
    takesNothing: ({ metadata }) => void edits.delete(metadata.uid ?? ''),
    gone,
  };
}

/** `MassDeletion` is what earlier versions called it. */
const askedReasons: readonly (string | undefined)[] = ['RemovalHeld', 'MassDeletion'];

/**
 * What its status says that somebody was asked: who agrees to others of the many has not agreed to this one. An edit, or the
 * deletion, is another generation and another question.
 */
function askedBefore({ metadata, status }: NodeConfig): string | undefined {
  const ready = findCondition(status?.conditions, 'Ready');
  if (!ready || !askedReasons.includes(ready.reason)) return undefined;
  return ready.observedGeneration === metadata.generation ? ready.message : undefined;
}

/** One that is missing was forced out, and what was in it is no more wanted gone than before. */
function endOf(what: string, owner: KubeObject | undefined): string | undefined {
  if (!owner) return `${what} is gone`;
  return owner.metadata.deletionTimestamp === undefined ? undefined : `${what} is being deleted`;
}

const toDelete = `if that was meant, annotate them ${annotations.deleteConsent}=<RFC 3339 time>`;
const toEdit = `if that is meant, annotate the object ${annotations.allowRemovals} with a new value; else undo the edit`;
