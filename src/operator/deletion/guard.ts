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

/** Deletions within this time of each other are one. */
const windowMs = 60_000;
/** How long a deletion waits for those that come with it. */
const settleMs = 3_000;
/** How long one that is gone counts beside others. */
const rememberMs = 10 * windowMs;

export interface DeletionGuard {
  /**
   * How many milliseconds a deleted object has to wait before its NICs may be taken off, 0 = they may. Throws StepFailure
   * when somebody has to agree first, and while nobody can tell.
   */
  ask(object: ConfigObject, signal: AbortSignal): Promise<number>;
}

interface DeletionGuardDeps {
  readonly client: Pick<KubeClient, 'find'>;
  readonly configs: Pick<ObjectStore<ConfigObject>, 'list'>;
  /** What the definition of the kind is called; undefined = it may not be read. */
  readonly definition: string | undefined;
  readonly clock: Clock;
}

/** A deletion that takes NICs off. */
interface Deletion {
  readonly uid: string;
  /** By the clock of the API server, which has whole seconds. */
  readonly at: number;
  /** Monotonic time at which we saw it. */
  readonly since: number;
}

/**
 * Keeps a slip from taking the NICs of whole clusters: many OpenstackConfigs at once, their namespace or their kind. What it
 * has decided the status remembers, for a process that comes after this one and when others of the many are gone.
 */
export function createDeletionGuard({
  client,
  configs,
  definition,
  clock,
}: DeletionGuardDeps): DeletionGuard {
  /** By name: one that is made anew and deleted again and again is still one. */
  const deletions = new Map<string, Deletion>();

  async function ask(object: ConfigObject, signal: AbortSignal): Promise<number> {
    if (isRetained(object)) return 0;
    const { all, mine } = look(object);
    if (hasRemovalApproval(object)) return 0;
    const { reason, message } = saidOf(object) ?? {};
    // Asked for before: to stop half-way leaves nodes that nobody wants like that.
    if (reason === 'Deleting') return 0;
    if (reason === 'RemovalHeld') throw held(message ?? '');
    const why = manyAt(mine.at, all) ?? (await terminating(object, signal));
    if (why !== undefined) throw held(`${why}; ${nextSteps(object)}`);
    if (all <= removalLimits.openstackConfigs.always) return 0;
    return Math.max(0, mine.since + settleMs - clock.monotonicMs());
  }

  /** Notes every deletion; answers the one of the object, and how many OpenstackConfigs there are or were until now. */
  function look(object: ConfigObject) {
    const now = clock.monotonicMs();
    const present = configs.list();
    for (const one of [object, ...present]) note(one, now);
    const names = new Set([object, ...present].map(keyOf));
    for (const [name, { since }] of deletions) {
      if (!names.has(name) && now - since > rememberMs) deletions.delete(name);
    }
    const mine = deletions.get(keyOf(object)) ?? { at: 0, since: now };
    return { all: new Set([...names, ...deletions.keys()]).size, mine };
  }

  function note(object: ConfigObject, since: number): void {
    const { deletionTimestamp, uid = '' } = object.metadata;
    const name = keyOf(object);
    if (deletionTimestamp === undefined || deletions.get(name)?.uid === uid) return;
    if (!hasFinalizer(object) || isRetained(object)) return;
    deletions.set(name, { uid, at: Date.parse(deletionTimestamp), since });
  }

  /** Those that somebody agreed to count, too: what is left of many stays many. */
  function manyAt(at: number, all: number): string | undefined {
    const near = [...deletions.values()].filter((one) => Math.abs(one.at - at) <= windowMs);
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

  return { ask };
}

/** One that is missing was forced out, and what was in it is no more wanted gone than before. */
function stateOf(found: Pick<ConfigObject, 'metadata'> | undefined) {
  if (found === undefined) return 'is gone';
  return found.metadata.deletionTimestamp === undefined ? 'stays' : 'is being deleted';
}

/** What was said about the deletion: of an object that lives it is also said what was delivered. */
function saidOf(object: ConfigObject) {
  const { conditions } = statusOf(object);
  return findCondition(conditions, 'Delivered') ? undefined : findCondition(conditions, 'Ready');
}

function held(message: string): StepFailure {
  return new StepFailure({ reason: 'RemovalHeld', message });
}

function unknown(what: string, cause: Error): StepFailure {
  const message = `whether ${what} is being deleted cannot be read, and no NIC is taken off before: ${cause.message}`;
  return new StepFailure({ reason: 'Error', message }, { cause });
}

function nextSteps({ metadata: { namespace, name } }: ConfigObject): string {
  const consent = `${annotations.allowRemovals}="$(date -Is)"`;
  return [
    'its NICs stay until somebody decides',
    `to take them off: kubectl -n ${namespace} annotate openstackconfig ${name} --overwrite ${consent}`,
    `to keep them: take the finalizer ${finalizers.openstackConfig} off`,
  ].join('; ');
}
