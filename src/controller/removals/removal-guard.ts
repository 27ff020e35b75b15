import { findCondition } from '../../api/condition.ts';
import { annotations, businessGroup } from '../../api/names.ts';
import { decideRemovals, removalLimits } from '../../api/removals.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { crds, namespaces } from '../../kube/core-resources.ts';
import { type KubeObject, keyOf } from '../../kube/object.ts';
import type { Clock } from '../../time/clock.ts';
import { sharedReads } from '../deletion/shared-reads.ts';
import { deliveredMacs, recordOf } from '../jobs/applied.ts';
import {
  allowsRemovals,
  deletedAt,
  hasConsent,
  type NodeConfig,
  nodeConfigs,
  type Stores,
} from '../objects/stores.ts';
import type { Removal } from './losses.ts';

/** Removals within this time of each other are one. */
const windowMs = 60_000;
/** How long a removal waits for those that come with it. */
const settleMs = 3_000;

export type Consent =
  | { readonly kind: 'granted' }
  | { readonly kind: 'early'; readonly forMs: number }
  | { readonly kind: 'asked'; readonly message: string };

export interface RemovalGuard {
  /** Whether the node of an object may be cleaned because the object is being deleted. */
  askToDelete(config: NodeConfig, signal: AbortSignal): Promise<Consent>;
  /** Whether an edit of the object may take these NICs from a node. */
  askToEdit(config: NodeConfig, loss: Removal): Consent;
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

/**
 * Asks before a mistake takes the NICs of a whole cluster: many nodes that lose NICs at once, by deletions or by edits, or the
 * namespace or kind deleted, without consent. Each object counts as one node, by its
 * name: one that is edited, deleted and made again is still one.
 */
export function createRemovalGuard(options: RemovalGuardOptions): RemovalGuard {
  const { client, stores, namespace, clock } = options;
  const seen = new Map<string, number>();
  const edits = new Map<string, Pending>();
  /** Removals that were begun without consent, by the key of the object; `isGone`: with the object. */
  const carriedOut = new Map<string, { readonly at: Date; readonly isGone: boolean }>();
  const readTerminating = sharedReads(async (signal) => {
    const crdName = `${nodeConfigs.plural}.${businessGroup}`;
    const [home, kind] = await Promise.all([
      client.find(namespaces, { name: namespace }, { signal }),
      client.find(crds, { name: crdName }, { signal }),
    ]);
    return endOf(`namespace ${namespace}`, home) ?? endOf(`the kind ${crdName}`, kind);
  });

  async function askToDelete(config: NodeConfig, signal: AbortSignal): Promise<Consent> {
    const { uid = '' } = config.metadata;
    edits.delete(keyOf(config));
    // To stop half-way would leave a node that nobody wants like that; and where nothing is, nothing is lost.
    if (isCleaned(config) || allowsRemovals(config)) return { kind: 'granted' };
    if (hasConsent(config, clock.now())) return agreed(config);
    const before = askedBefore(config);
    if (before !== undefined) return { kind: 'asked', message: before };
    const since = seen.get(uid) ?? clock.monotonicMs();
    seen.set(uid, since);
    const message = many(config, deletedAt(config)) ?? (await readTerminating(signal));
    if (message !== undefined) return { kind: 'asked', message: `${message}; ${toDelete}` };
    return early(since) ?? { kind: 'granted' };
  }

  /** Deleted first and agreed to later: the others that were deleted with it are as many as before. */
  function agreed(config: NodeConfig): Consent {
    if (seen.delete(config.metadata.uid ?? '')) count(config, false, deletedAt(config));
    return { kind: 'granted' };
  }

  function askToEdit(config: NodeConfig, loss: Removal): Consent {
    const key = keyOf(config);
    if (allowsRemovals(config)) {
      edits.delete(key);
      return { kind: 'granted' };
    }
    const what = `NICs ${loss.macs.join(', ')} would leave node ${loss.nodeName}: ${loss.why}`;
    if (loss.basis === 'sideEffect') return { kind: 'asked', message: `${what}; ${toEdit}` };
    const before = askedBefore(config);
    if (before !== undefined) return { kind: 'asked', message: before };
    const pending = edits.get(key) ?? { at: clock.now(), since: clock.monotonicMs() };
    edits.set(key, pending);
    const message = many(config, pending.at);
    if (message !== undefined) {
      return { kind: 'asked', message: `${what}, and ${message}; ${toEdit}` };
    }
    const wait = early(pending.since);
    if (wait) return wait;
    edits.delete(key);
    count(config, false, pending.at);
    return { kind: 'granted' };
  }

  /** Where all nodes together are no more than may always go, no others are waited for. */
  function early(since: number): Consent | undefined {
    if (stores.configs.size <= removalLimits.nodesOfCluster.always) return undefined;
    const forMs = since + settleMs - clock.monotonicMs();
    return forMs > 0 ? { kind: 'early', forMs } : undefined;
  }

  /** Why the object has to wait with the others that take NICs off within the same minute; undefined: it need not. */
  function many(config: NodeConfig, when: Date | undefined): string | undefined {
    const at = when?.getTime() ?? 0;
    const isNear = (time: Date) => Math.abs(time.getTime() - at) <= windowMs;
    const together = new Set([
      ...[...carriedOut].flatMap(([key, one]) => (isNear(one.at) ? [key] : [])),
      ...[...edits].flatMap(([key, pending]) => (isNear(pending.at) ? [key] : [])),
    ]);
    const goneBy = [...carriedOut.values()].filter((one) => one.isGone && isNear(one.at)).length;
    for (let ms = at - windowMs; ms <= at + windowMs; ms += 1_000) {
      for (const key of stores.leavingSince(new Date(ms))) together.add(key);
    }
    const all = stores.configs.size + goneBy;
    const decision = decideRemovals({
      removals: [{ item: keyOf(config), basis: 'named', hasConsent: false }],
      recent: together,
      total: all,
      limit: removalLimits.nodesOfCluster,
    });
    if (decision.held.size === 0) return undefined;
    return `${decision.count} of ${all} objects take NICs from their nodes within a minute`;
  }

  function gone(config: NodeConfig): void {
    seen.delete(config.metadata.uid ?? '');
    edits.delete(keyOf(config));
    if (!hasConsent(config, clock.now())) count(config, true, deletedAt(config));
  }

  function count(config: NodeConfig, isGone: boolean, at = new Date(0)): void {
    carriedOut.set(keyOf(config), { at, isGone });
    for (const [key, one] of carriedOut) {
      if (at.getTime() - one.at.getTime() > windowMs) carriedOut.delete(key);
    }
    for (const [key, pending] of edits) {
      if (at.getTime() - pending.at.getTime() > windowMs) edits.delete(key);
    }
  }

  return {
    askToDelete,
    askToEdit,
    takesNothing: (config) => void edits.delete(keyOf(config)),
    gone,
  };
}

/** Whether the clean-up of an object has begun, or its record says that it has no NIC on any node. */
function isCleaned(config: NodeConfig): boolean {
  const record = recordOf(config);
  if (!record) return false;
  return (
    record.action === 'cleanup' || (record.done === true && deliveredMacs(config).length === 0)
  );
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
