import { createHash } from 'node:crypto';
import type { Effect } from '../../api/effects.ts';
import { annotations, fieldManagers } from '../../api/names.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { deployments } from '../../kube/core-resources.ts';
import { isNotFound } from '../../kube/errors.ts';
import { type KubeObject, keyOf, type ObjectRef } from '../../kube/object.ts';
import type { Perform } from '../../process/effects.ts';
import type { Clock } from '../../time/clock.ts';
import type { Desired } from '../model/desired.ts';
import type { Ensured, LostFields } from '../model/outcome.ts';
import type { LiveObjects, Note, Removal } from '../model/stage.ts';
import { assess, type Memory } from '../recovery/assess.ts';
import { appliedPaths } from '../recovery/field-sets.ts';
import { RepairLedger } from '../recovery/ledger.ts';
import { lostFields } from '../recovery/lost-fields.ts';

export interface ApplierDeps {
  readonly client: Pick<KubeClient, 'apply' | 'delete' | 'find' | 'patch'>;
  readonly perform: Perform<Effect>;
  readonly live: LiveObjects;
  readonly clock: Clock;
}

export interface EnsureOptions {
  /** True: revert foreign changes; false: write only changes from the spec. */
  readonly recovers: boolean;
  readonly signal: AbortSignal;
}

export interface EnsuredObject {
  readonly ensured: Ensured;
  /** Fields lost to another manager. */
  readonly lost?: LostFields;
  /** Milliseconds until the next repair of a contested object. */
  readonly waitMs?: number;
}

/** Writes objects by server-side apply, only if different from the last applied content. */
export class Applier {
  readonly #deps: ApplierDeps;
  readonly #memory = new Map<string, Memory>();
  readonly #ledger = new RepairLedger();

  constructor(deps: ApplierDeps) {
    this.#deps = deps;
  }

  async ensure(wanted: Desired, { recovers, signal }: EnsureOptions): Promise<EnsuredObject> {
    const hash = hashOf(wanted.object);
    const live = await this.#find(wanted, signal);
    // An object in deletion accepts no change; it is recreated afterwards.
    if (live?.metadata.deletionTimestamp !== undefined) return { ensured: 'unchanged' };
    const assessed = assess(live, this.#memory.get(keyOfDesired(wanted)), hash);
    const options = { recovers, signal };
    if (assessed.what === 'as-wanted') return { ensured: 'unchanged' };
    if (assessed.what === 'disturbed') return this.#repair(wanted, hash, assessed.lost, options);
    if (assessed.what === 'outdated' || !live) return this.#change(wanted, hash, live, signal);
    return recovers
      ? this.#learnByApply(wanted, hash, live, signal)
      : this.#learnByDryRun(wanted, hash, live, signal);
  }

  /** Creates an object that is never changed; an existing object with the same name stays. */
  async create({ resource, object }: Desired, signal: AbortSignal): Promise<void> {
    if (this.#deps.live.find(resource, object.metadata.name)) return;
    await this.#deps.perform('lifecycle.job.create', () =>
      this.#deps.client.apply(resource, object, {
        fieldManager: fieldManagers.lifecycle,
        force: true,
        signal,
      }),
    );
  }

  /** Sets an annotation under a separate field manager; throws a conflict if the object has changed. */
  async note({ resource, object, annotation, text }: Note, signal: AbortSignal): Promise<void> {
    const { name, namespace, resourceVersion } = object.metadata;
    const ref = namespace === undefined ? { name } : { namespace, name };
    const notes = { [annotation]: text === '' ? null : text };
    const options = { fieldManager: fieldManagers.lifecycleOperation, signal };
    await this.#deps.perform('lifecycle.operation.write', () =>
      this.#deps.client.patch(
        resource,
        ref,
        { metadata: { ...(resourceVersion ? { resourceVersion } : {}), annotations: notes } },
        options,
      ),
    );
  }

  /** Scales a legacy Deployment to 0. */
  async stop(ref: ObjectRef, signal: AbortSignal): Promise<void> {
    const scaled = { spec: { replicas: 0 } };
    const options = { fieldManager: fieldManagers.lifecycle, signal };
    await this.#deps.perform('lifecycle.legacy.scale', () =>
      this.#deps.client.patch(deployments, ref, scaled, options),
    );
  }

  async remove(removal: Removal, signal: AbortSignal): Promise<void> {
    // Without a policy the API server orphans a Job's Pods, and a restore continues.
    const { resource, ref, propagationPolicy = 'Background' } = removal;
    await this.#deps.perform('lifecycle.object.delete', async () => {
      try {
        await this.#deps.client.delete(resource, ref, { propagationPolicy, signal });
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    });
    // A later recreation is a new object, not a repair.
    this.#memory.delete(`${resource.kind} ${keyOf(ref)}`);
  }

  /** Forgets all other objects: an object added to the spec later counts as new, even if a user deleted it before. */
  retain(wanted: readonly Desired[]): void {
    const keys = new Set(wanted.map(keyOfDesired));
    for (const key of this.#memory.keys()) if (!keys.has(key)) this.#memory.delete(key);
  }

  /** Reads from the API server if missing in the watches, which omit objects without our labels. */
  async #find({ resource, object }: Desired, signal: AbortSignal): Promise<KubeObject | undefined> {
    const { name, namespace } = object.metadata;
    const ref = namespace === undefined ? { name } : { namespace, name };
    return (
      this.#deps.live.find(resource, name) ??
      (await this.#deps.client.find(resource, ref, { signal }))
    );
  }

  async #change(
    wanted: Desired,
    hash: string,
    live: KubeObject | undefined,
    signal: AbortSignal,
  ): Promise<EnsuredObject> {
    const written = await this.#apply(wanted, hash, signal);
    if (!live) return { ensured: 'created' };
    return { ensured: isSameVersion(live, written) ? 'unchanged' : 'changed' };
  }

  /** Applies to learn which fields lifecycle should own; usually without any change. */
  async #learnByApply(
    wanted: Desired,
    hash: string,
    live: KubeObject,
    signal: AbortSignal,
  ): Promise<EnsuredObject> {
    const written = await this.#apply(wanted, hash, signal);
    const owned = appliedPaths(written, fieldManagers.lifecycle);
    const lost = lostFields(owned, live, fieldManagers.lifecycle);
    if (!lost) return { ensured: isSameVersion(live, written) ? 'unchanged' : 'changed' };
    this.#ledger.note(keyOfDesired(wanted), lost.paths, this.#deps.clock.monotonicMs());
    return { ensured: 'repaired', lost };
  }

  /** Learns by dry run, while recovery is off. */
  async #learnByDryRun(
    wanted: Desired,
    hash: string,
    live: KubeObject,
    signal: AbortSignal,
  ): Promise<EnsuredObject> {
    const would = await this.#send(wanted, hash, { dryRun: true, signal });
    const owned = appliedPaths(would, fieldManagers.lifecycle);
    const { resourceVersion: version = '' } = live.metadata;
    this.#memory.set(keyOfDesired(wanted), { hash, version, owned });
    const lost = lostFields(owned, live, fieldManagers.lifecycle);
    return lost ? { ensured: 'drifted', lost } : { ensured: 'unchanged' };
  }

  async #repair(
    wanted: Desired,
    hash: string,
    lost: LostFields,
    { recovers, signal }: EnsureOptions,
  ): Promise<EnsuredObject> {
    if (!recovers) return { ensured: 'drifted', lost };
    const key = keyOfDesired(wanted);
    const now = this.#deps.clock.monotonicMs();
    const waitMs = this.#ledger.waitMs(key, lost.paths, now);
    if (waitMs > 0) return { ensured: 'contested', lost, waitMs };
    await this.#apply(wanted, hash, signal);
    this.#ledger.note(key, lost.paths, now);
    return { ensured: 'repaired', lost };
  }

  async #apply(wanted: Desired, hash: string, signal: AbortSignal): Promise<KubeObject> {
    const written = await this.#deps.perform('lifecycle.object.apply', () =>
      this.#send(wanted, hash, { dryRun: false, signal }),
    );
    this.#memory.set(keyOfDesired(wanted), {
      hash,
      version: written.metadata.resourceVersion ?? '',
      owned: appliedPaths(written, fieldManagers.lifecycle),
    });
    return written;
  }

  async #send(
    { resource, object }: Desired,
    hash: string,
    options: { readonly dryRun: boolean; readonly signal: AbortSignal },
  ): Promise<KubeObject> {
    const { metadata } = object;
    const noted = { ...metadata.annotations, [annotations.applied]: hash };
    const whole = { ...object, metadata: { ...metadata, annotations: noted } };
    const apply = { fieldManager: fieldManagers.lifecycle, force: true, ...options };
    return this.#deps.client.apply(resource, whole, apply);
  }
}

function keyOfDesired({ resource, object }: Desired): string {
  return `${resource.kind} ${keyOf(object)}`;
}

function isSameVersion(before: KubeObject | undefined, after: KubeObject): boolean {
  return before?.metadata.resourceVersion === after.metadata.resourceVersion;
}

function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 32);
}
