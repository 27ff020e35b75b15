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

/** Removals within this window count together. */
const windowMs = 60_000;
/** Delay before a removal, to wait for simultaneous removals. */
const settleMs = 3_000;

export type Consent =
  | { readonly kind: 'granted' }
  | { readonly kind: 'early'; readonly forMs: number }
  | { readonly kind: 'asked'; readonly message: string };

export interface RemovalGuard {
  /** Decides whether a deleted object's node may be cleaned. */
  consentToDelete(config: NodeConfig, signal: AbortSignal): Promise<Consent>;
  /** Decides whether an edit may remove these NICs from a node. */
  consentToEdit(config: NodeConfig, loss: Removal): Consent;
  /** Call when the object removes no NICs. */
  noRemovals(config: NodeConfig): void;
  /** Call when the object was released: it counts within the window. */
  gone(config: NodeConfig): void;
}

export interface RemovalGuardOptions {
  readonly client: Pick<KubeClient, 'find'>;
  readonly stores: Pick<Stores, 'configs' | 'leavingSince'>;
  readonly namespace: string;
  readonly clock: Clock;
}

/** A removal waiting for simultaneous removals or for consent. */
interface Pending {
  readonly at: Date;
  /** Milliseconds on the monotonic clock. */
  readonly since: number;
}

/**
 * Blocks accidental removal of a whole cluster's NICs without consent: many nodes losing NICs at once by deletions or
 * edits, or deletion of the namespace or CRD. Each object counts as one node by its name, even if edited, deleted and
 * recreated.
 */
export function createRemovalGuard(options: RemovalGuardOptions): RemovalGuard {
  const { client, stores, namespace, clock } = options;
  const firstRequests = new Map<string, number>();
  const edits = new Map<string, Pending>();
  /** Removals started without consent, by object key; `isGone`: the object was deleted. */
  const startedRemovals = new Map<string, { readonly at: Date; readonly isGone: boolean }>();
  const readTerminating = sharedReads(async (signal) => {
    const crdName = `${nodeConfigs.plural}.${businessGroup}`;
    const [home, kind] = await Promise.all([
      client.find(namespaces, { name: namespace }, { signal }),
      client.find(crds, { name: crdName }, { signal }),
    ]);
    return endOf(`namespace ${namespace}`, home) ?? endOf(`CRD ${crdName}`, kind);
  });

  async function consentToDelete(config: NodeConfig, signal: AbortSignal): Promise<Consent> {
    const { uid = '' } = config.metadata;
    edits.delete(keyOf(config));
    // A started clean-up must not stop half-way, and an object without NICs has nothing to lose.
    if (isCleaned(config) || allowsRemovals(config)) return { kind: 'granted' };
    if (hasConsent(config, clock.now())) return agreed(config);
    const before = askedBefore(config);
    if (before !== undefined) return { kind: 'asked', message: before };
    const since = firstRequests.get(uid) ?? clock.monotonicMs();
    firstRequests.set(uid, since);
    const message = many(config, deletedAt(config)) ?? (await readTerminating(signal));
    if (message !== undefined) return { kind: 'asked', message: `${message}; ${toDelete}` };
    return early(since) ?? { kind: 'granted' };
  }

  /** Consent came after the deletion: the remaining objects deleted at the same time still count together. */
  function agreed(config: NodeConfig): Consent {
    if (firstRequests.delete(config.metadata.uid ?? '')) count(config, false, deletedAt(config));
    return { kind: 'granted' };
  }

  function consentToEdit(config: NodeConfig, loss: Removal): Consent {
    const key = keyOf(config);
    if (allowsRemovals(config)) {
      edits.delete(key);
      return { kind: 'granted' };
    }
    const what = `NIC${loss.macs.length === 1 ? '' : 's'} ${loss.macs.join(', ')} would be removed from node ${loss.nodeName}: ${loss.why}`;
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

  /** Delays a removal, in clusters larger than the number of removals always permitted; undefined: no delay. */
  function early(since: number): Consent | undefined {
    if (stores.configs.size <= removalLimits.nodesOfCluster.always) return undefined;
    const forMs = since + settleMs - clock.monotonicMs();
    return forMs > 0 ? { kind: 'early', forMs } : undefined;
  }

  /** Returns why the object must wait with other removals in the same minute; undefined: no wait. */
  function many(config: NodeConfig, when: Date | undefined): string | undefined {
    const at = when?.getTime() ?? 0;
    const isNear = (time: Date) => Math.abs(time.getTime() - at) <= windowMs;
    const together = new Set([
      ...[...startedRemovals].flatMap(([key, one]) => (isNear(one.at) ? [key] : [])),
      ...[...edits].flatMap(([key, pending]) => (isNear(pending.at) ? [key] : [])),
    ]);
    const goneBy = [...startedRemovals.values()].filter(
      (one) => one.isGone && isNear(one.at),
    ).length;
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
    return `${decision.count} of ${all} objects remove NICs from their nodes within one minute`;
  }

  function gone(config: NodeConfig): void {
    firstRequests.delete(config.metadata.uid ?? '');
    edits.delete(keyOf(config));
    if (!hasConsent(config, clock.now())) count(config, true, deletedAt(config));
  }

  function count(config: NodeConfig, isGone: boolean, at = new Date(0)): void {
    startedRemovals.set(keyOf(config), { at, isGone });
    for (const [key, one] of startedRemovals) {
      if (at.getTime() - one.at.getTime() > windowMs) startedRemovals.delete(key);
    }
    for (const [key, pending] of edits) {
      if (at.getTime() - pending.at.getTime() > windowMs) edits.delete(key);
    }
  }

  return {
    consentToDelete,
    consentToEdit,
    noRemovals: (config) => void edits.delete(keyOf(config)),
    gone,
  };
}

/** True if the object's clean-up has started, or if its record shows no NICs on any node. */
function isCleaned(config: NodeConfig): boolean {
  const record = recordOf(config);
  if (!record) return false;
  return (
    record.action === 'cleanup' || (record.done === true && deliveredMacs(config).length === 0)
  );
}

/** `MassDeletion` is the reason name in earlier versions. */
const askedReasons: readonly (string | undefined)[] = ['RemovalHeld', 'MassDeletion'];

/**
 * Returns the message of an earlier consent request in the status. Consent for other objects does not cover this
 * object. An edit or a deletion is a new generation and needs a new request.
 */
function askedBefore({ metadata, status }: NodeConfig): string | undefined {
  const ready = findCondition(status?.conditions, 'Ready');
  if (!ready || !askedReasons.includes(ready.reason)) return undefined;
  return ready.observedGeneration === metadata.generation ? ready.message : undefined;
}

/** A missing namespace or CRD was removed by force, which is no consent to clean the nodes. */
function endOf(what: string, owner: KubeObject | undefined): string | undefined {
  if (!owner) return `${what} no longer exists`;
  return owner.metadata.deletionTimestamp === undefined ? undefined : `${what} is being deleted`;
}

const toDelete = `to confirm, set the annotation ${annotations.deleteConsent}=<RFC 3339 time> on the deleted objects`;
const toEdit = `to confirm, set the annotation ${annotations.allowRemovals} to a new value; otherwise undo the edit`;
