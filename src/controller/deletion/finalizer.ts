import { findCondition } from '../../api/condition.ts';
import type { Effect } from '../../api/effects.ts';
import { annotations, businessGroup, fieldManagers, finalizers } from '../../api/names.ts';
import type { Reason } from '../../api/reasons.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { crds, type Node, namespaces, nodes } from '../../kube/core-resources.ts';
import type { KubeObject, ObjectRef } from '../../kube/object.ts';
import { defineResource } from '../../kube/resource.ts';
import type { Perform } from '../../process/effects.ts';
import type { Clock } from '../../time/clock.ts';
import { type Applied, appliedIn } from '../jobs/applied.ts';
import type { Run, Runner } from '../jobs/runner.ts';
import {
  deletedAt,
  hasConsent,
  instanceIdOf,
  type NodeConfig,
  nodeConfigs,
  nodeNameOf,
  type Stores,
  slimNode,
  systemUuidOf,
} from '../objects/stores.ts';
import { duplicatesOf } from '../target.ts';

export interface DeletionOptions {
  readonly client: Pick<KubeClient, 'find' | 'listAll' | 'patch'>;
  readonly runner: Pick<Runner, 'runsFor' | 'remove'>;
  readonly perform: Perform<Effect>;
  readonly stores: Stores;
}

/** What has to be gone before an object may go, and what may be left when it is gone. */
export interface Deletion {
  /** Keeps the object until its node is clean; before anything is done on the node. */
  hold(config: NodeConfig, signal: AbortSignal): Promise<NodeConfig>;
  /** Lets the object go. */
  release(config: NodeConfig, signal: AbortSignal): Promise<void>;
  /** Whether the node of an object is gone for certain, read from the server now. */
  nodeIsGone(config: NodeConfig, signal: AbortSignal): Promise<boolean>;
  /**
   * The node on which something was done for the object, when it means another one or none by now: nobody else cleans it.
   */
  formerNode(
    config: NodeConfig,
    now: Node | undefined,
    signal: AbortSignal,
  ): Promise<Node | undefined>;
  /** Takes back the runs of an object that have not begun, when none may begin. */
  withdraw(config: NodeConfig, signal: AbortSignal): Promise<void>;
  /** Removes runs for objects that had this name and do not exist any more. */
  collect(ref: ObjectRef, uid: string | undefined, signal: AbortSignal): Promise<void>;
}

/** Each is cut down as it is read: whole, all Nodes of a large cluster are more than the heap has room for. */
const slimNodes = defineResource<Node>({ ...nodes, parse: (raw) => slimNode(raw as Node) });

/** Whether our finalizer is on the object. */
export function isHeld({ metadata }: NodeConfig): boolean {
  return metadata.finalizers?.includes(finalizers.nodeConfig) ?? false;
}

export function createDeletion({ client, runner, perform, stores }: DeletionOptions): Deletion {
  const listNodes = sharedReads(
    async (signal) => (await client.listAll(slimNodes, { signal })).items,
  );

  function setFinalizers(config: NodeConfig, list: readonly string[], signal: AbortSignal) {
    const { namespace = '', name, resourceVersion } = config.metadata;
    // A merge patch replaces the whole list: only of the version that was looked at.
    const patch = { metadata: { resourceVersion, finalizers: list } };
    const options = { fieldManager: fieldManagers.controller, signal };
    return client.patch(nodeConfigs, { namespace, name }, patch, options);
  }

  async function hold(config: NodeConfig, signal: AbortSignal): Promise<NodeConfig> {
    const list = [...(config.metadata.finalizers ?? []), finalizers.nodeConfig];
    return perform('controller.finalizer.add', () => setFinalizers(config, list, signal));
  }

  async function release(config: NodeConfig, signal: AbortSignal): Promise<void> {
    const list = config.metadata.finalizers?.filter((name) => name !== finalizers.nodeConfig) ?? [];
    await perform('controller.finalizer.remove', () => setFinalizers(config, list, signal));
  }

  async function nodeIsGone(config: NodeConfig, signal: AbortSignal): Promise<boolean> {
    const instanceId = instanceIdOf(config);
    const names = new Set([nodeNameOf(config), appliedIn(config.status)?.nodeName]);
    const found = await listNodes(signal);
    if (instanceId === undefined) return !found.some(({ metadata }) => names.has(metadata.name));
    return !found.some((node) => {
      const uuid = systemUuidOf(node);
      // A Node that does not say who it is for the moment may well be the one.
      return uuid === undefined ? names.has(node.metadata.name) : uuid === instanceId;
    });
  }

  async function formerNode(config: NodeConfig, now: Node | undefined, signal: AbortSignal) {
    const applied = appliedIn(config.status);
    if (!applied || isClean(applied) || now?.metadata.name === applied.nodeName) return undefined;
    const node = await client.find(nodes, { name: applied.nodeName }, { signal });
    if (!node || !isSameNode(applied, node) || mayBeWanted(config, node, now)) return undefined;
    return duplicatesOf(config, node, stores).length > 0 ? undefined : node;
  }

  async function withdraw(config: NodeConfig, signal: AbortSignal): Promise<void> {
    const { namespace = '', name, uid } = config.metadata;
    for (const run of runner.runsFor({ namespace, name })) {
      if (run.uid === uid && hasNotBegun(run)) await runner.remove(run, signal);
    }
  }

  async function collect(ref: ObjectRef, uid: string | undefined, signal: AbortSignal) {
    for (const run of runner.runsFor(ref)) {
      // One that works is left to end: its node is told to stop only by what comes after it.
      if (run.uid !== uid && (hasNotBegun(run) || run.phase === 'ended')) {
        await runner.remove(run, signal);
      }
    }
  }

  return { hold, release, nodeIsGone, formerNode, withdraw, collect };
}

function hasNotBegun({ phase }: Run): boolean {
  return phase === 'prepared' || phase === 'pending';
}

function isClean({ action, done = false }: Applied): boolean {
  return action === 'cleanup' && done;
}

/**
 * Whether it may be the machine that the object means, registered under two names. Without a systemUUID nobody can tell that
 * it is not; a machineID says nothing here, because machines that were made from one image may share it.
 */
function mayBeWanted(config: NodeConfig, node: Node, now: Node | undefined): boolean {
  const uuid = systemUuidOf(node);
  return uuid === undefined || uuid === instanceIdOf(config) || uuid === (now && systemUuidOf(now));
}

/** One machine may register anew; one Node, under its name, may have become another machine. */
function isSameNode({ nodeUid, machineId }: Applied, { metadata, status }: Node): boolean {
  const now = status?.nodeInfo?.machineID;
  if (machineId && now) return machineId === now;
  return nodeUid === metadata.uid;
}

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
  /** When those were deleted that are not counted among what leaves any more. */
  let released: readonly Date[] = [];
  const readTerminating = sharedReads(async (signal) => {
    const crdName = `${nodeConfigs.plural}.${businessGroup}`;
    const [home, kind] = await Promise.all([
      client.find(namespaces, { name: namespace }, { signal }),
      client.find(crds, { name: crdName }, { signal }),
    ]);
    return endOf(`namespace ${namespace}`, home) ?? endOf(`the kind ${crdName}`, kind);
  });

  async function ask(config: NodeConfig, signal: AbortSignal): Promise<Leave> {
    const { uid = '' } = config.metadata;
    if (hasConsent(config)) {
      // Deleted first and agreed to later: the others that were deleted with it are as many as before.
      if (seen.delete(uid)) count(config);
      return { kind: 'granted' };
    }
    const before = askedBefore(config);
    if (before !== undefined) return { kind: 'asked', message: before };
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
    let together = earlier;
    for (let ms = at - windowMs; ms <= at + windowMs; ms += 1_000) {
      together += stores.leavingSince(new Date(ms));
    }
    const all = stores.configs.size + earlier;
    if (together <= Math.max(alwaysAllowed, all * allowedPart)) return undefined;
    return `${together} of ${all} objects were deleted within a minute`;
  }

  function gone(config: NodeConfig): void {
    seen.delete(config.metadata.uid ?? '');
    if (!hasConsent(config)) count(config);
  }

  function count(config: NodeConfig): void {
    const at = deletedAt(config) ?? new Date(0);
    released = [...released.filter((one) => at.getTime() - one.getTime() <= windowMs), at];
  }

  return { ask, gone };
}

/** What its status says that somebody was asked: who agrees to others of the many has not agreed to this one. */
function askedBefore({ status }: NodeConfig): string | undefined {
  const { reason, message } = findCondition(status?.conditions, 'Ready') ?? {};
  return reason === ('MassDeletion' satisfies Reason) ? message : undefined;
}

/** One that is missing was forced out, and what was in it is no more wanted gone than before. */
function endOf(what: string, owner: KubeObject | undefined): string | undefined {
  if (!owner) return `${what} is gone`;
  return owner.metadata.deletionTimestamp === undefined ? undefined : `${what} is being deleted`;
}

const nextStep = `if that was meant, annotate them ${annotations.deleteConsent}=<RFC 3339 time>`;

/**
 * One read for all who wait: whoever asks while one is on its way shares the next one, so that what everybody gets was
 * read after he asked. A hundred deletions cost two lists, not a hundred.
 */
function sharedReads<T>(
  read: (signal: AbortSignal) => Promise<T>,
): (signal: AbortSignal) => Promise<T> {
  let running: Promise<unknown> | undefined;
  let next: Promise<T> | undefined;

  return (signal) => {
    next ??= start(running, signal);
    return next;
  };

  async function start(before: Promise<unknown> | undefined, signal: AbortSignal): Promise<T> {
    // For its end, good or bad: how it ended is told to those who wait for it.
    await Promise.allSettled([before]);
    const reading = read(signal);
    running = reading;
    next = undefined;
    return reading;
  }
}
