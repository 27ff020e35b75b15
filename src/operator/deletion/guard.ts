import { findCondition } from '../../api/condition.ts';
import { annotations, finalizers } from '../../api/names.ts';
import { allowedAtOnce, removalLimits } from '../../api/removals.ts';
import type { Store as ObjectStore } from '../../kube/cache/store.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { crds, namespaces } from '../../kube/core-resources.ts';
import { isForbidden } from '../../kube/errors.ts';
import { keyOf } from '../../kube/object.ts';
import type { Clock } from '../../time/clock.ts';
import {
  type ConfigObject,
  hasFinalizer,
  hasRemovalApproval,
  isRetained,
  statusOf,
} from '../openstack-config.ts';
import { StepFailure } from '../status/step-failure.ts';

/** Deletions at most this many milliseconds apart count together. */
const windowMs = 60_000;
/** Milliseconds that a deletion waits for simultaneous deletions. */
const settleMs = 3_000;
/** Milliseconds for which a complete deletion still counts. */
const rememberMs = 10 * windowMs;

export interface DeletionGuard {
  /**
   * Returns the milliseconds that a deleted object waits before its NICs may be removed; 0: no wait. Throws StepFailure
   * when a user must approve the removal, or when the operator may not read namespace or CRD.
   */
  waitMs(object: ConfigObject, signal: AbortSignal): Promise<number>;
}

interface DeletionGuardDeps {
  readonly client: Pick<KubeClient, 'find'>;
  readonly configs: Pick<ObjectStore<ConfigObject>, 'list'>;
  /** Name of the CRD; undefined: the operator may not read CRDs. */
  readonly definition: string | undefined;
  readonly clock: Clock;
}

/** A deletion that removes NICs. */
interface Deletion {
  readonly uid: string;
  /** API server's time, in whole seconds. */
  readonly at: number;
  /** Monotonic time of the first observation. */
  readonly since: number;
}

/**
 * Guards against accidental mass removal: many OpenstackConfigs deleted at once, their namespace or their CRD. The
 * status stores a blocked deletion for later processes, and for the time after other deletions complete.
 */
export function createDeletionGuard({
  client,
  configs,
  definition,
  clock,
}: DeletionGuardDeps): DeletionGuard {
  /** By object key: an OpenstackConfig recreated and deleted repeatedly counts once. */
  const deletions = new Map<string, Deletion>();

  async function waitMs(object: ConfigObject, signal: AbortSignal): Promise<number> {
    if (isRetained(object)) return 0;
    const { all, own } = recordDeletions(object);
    if (hasRemovalApproval(object)) return 0;
    const { reason, message } = deletionCondition(object) ?? {};
    // A removal in progress continues: stopping half-way would leave some nodes without their NICs.
    if (reason === 'Deleting') return 0;
    if (reason === 'RemovalHeld') throw held(message ?? '');
    const why = massDeletionAt(own.at, all) ?? (await terminating(object, signal));
    if (why !== undefined) throw held(`${why}; ${nextSteps(object)}`);
    if (all <= removalLimits.openstackConfigs.always) return 0;
    return Math.max(0, own.since + settleMs - clock.monotonicMs());
  }

  /**
   * Records all deletions. Returns the object's own deletion, and the number of existing and recently deleted
   * OpenstackConfigs.
   */
  function recordDeletions(object: ConfigObject) {
    const now = clock.monotonicMs();
    const present = configs.list();
    for (const config of [object, ...present]) record(config, now);
    const names = new Set([object, ...present].map(keyOf));
    for (const [name, { since }] of deletions) {
      if (!names.has(name) && now - since > rememberMs) deletions.delete(name);
    }
    const own = deletions.get(keyOf(object)) ?? { at: 0, since: now };
    return { all: new Set([...names, ...deletions.keys()]).size, own };
  }

  function record(object: ConfigObject, since: number): void {
    const { deletionTimestamp, uid = '' } = object.metadata;
    const name = keyOf(object);
    if (deletionTimestamp === undefined || deletions.get(name)?.uid === uid) return;
    if (!hasFinalizer(object) || isRetained(object)) return;
    deletions.set(name, { uid, at: Date.parse(deletionTimestamp), since });
  }

  /**
   * Returns why deletions around `at` are a mass deletion. Approved deletions count, too, so the rest stays blocked.
   */
  function massDeletionAt(at: number, all: number): string | undefined {
    const near = [...deletions.values()].filter((other) => Math.abs(other.at - at) <= windowMs);
    if (near.length <= allowedAtOnce(all, removalLimits.openstackConfigs)) return undefined;
    return `${near.length} of ${all} OpenstackConfigs were deleted within a minute`;
  }

  async function terminating({ metadata: { namespace = '' } }: ConfigObject, signal: AbortSignal) {
    const owners = [
      { what: `namespace ${namespace}`, read: async () => readNamespace(namespace, signal) },
      { what: `the CRD ${definition}`, read: async () => readDefinition(signal) },
    ];
    for (const { what, read } of owners) {
      const state = await read().catch((error: unknown) => {
        throw isForbidden(error) ? unknown(what, error) : error;
      });
      if (state !== 'stays') return `${what} ${state}`;
    }
    return undefined;
  }

  async function readNamespace(name: string, signal: AbortSignal) {
    return stateOf(await client.find(namespaces, { name }, { signal }));
  }

  async function readDefinition(signal: AbortSignal) {
    if (definition === undefined) return 'stays';
    return stateOf(await client.find(crds, { name: definition }, { signal }));
  }

  return { waitMs };
}

/** A missing namespace or CRD was deleted by force, so removing its NICs still needs approval. */
function stateOf(found: Pick<ConfigObject, 'metadata'> | undefined) {
  if (found === undefined) return 'no longer exists';
  return found.metadata.deletionTimestamp === undefined ? 'stays' : 'is being deleted';
}

/** Returns the Ready condition written since the deletion: only a live object's status has Delivered. */
function deletionCondition(object: ConfigObject) {
  const { conditions } = statusOf(object);
  return findCondition(conditions, 'Delivered') ? undefined : findCondition(conditions, 'Ready');
}

function held(message: string): StepFailure {
  return new StepFailure({ reason: 'RemovalHeld', message });
}

function unknown(what: string, cause: Error): StepFailure {
  const message = `the deletion of ${what} cannot be checked, so no NIC is removed: ${cause.message}`;
  return new StepFailure({ reason: 'Error', message }, { cause });
}

function nextSteps({ metadata: { namespace, name } }: ConfigObject): string {
  const consent = `${annotations.allowRemovals}="$(date -Is)"`;
  return [
    'its NICs stay until you decide',
    `to remove them: kubectl -n ${namespace} annotate openstackconfig ${name} --overwrite ${consent}`,
    `to keep them: remove the finalizer ${finalizers.openstackConfig}`,
  ].join('; ');
}
