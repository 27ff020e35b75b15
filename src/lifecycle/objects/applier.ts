import { createHash } from 'node:crypto';
import type { Effect } from '../../api/effects.ts';
import { annotations, fieldManagers } from '../../api/names.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { deployments } from '../../kube/core-resources.ts';
import { isNotFound } from '../../kube/errors.ts';
import { type Draft, type KubeObject, keyOf, type ObjectRef } from '../../kube/object.ts';
import type { Resource } from '../../kube/resource.ts';
import type { Perform } from '../../process/effects.ts';
import type { LiveObjects, Removal } from '../stage.ts';
import type { Desired } from './desired.ts';

export interface ApplierDeps {
  readonly client: Pick<KubeClient, 'apply' | 'create' | 'delete' | 'find' | 'patch'>;
  readonly perform: Perform<Effect>;
  readonly live: LiveObjects;
}

export interface EnsureOptions {
  /** Whether a change by others is reverted; default: only what the spec changes is written. */
  readonly recovers: boolean;
  readonly signal: AbortSignal;
}

/** What became of one object. */
export type Ensured = 'unchanged' | 'created' | 'changed' | 'repaired' | 'drifted';

interface Memory {
  readonly uid: string | undefined;
  /** Hash of what was applied. */
  readonly wanted: string;
  /** Hash of the fields that lifecycle owned then, by managedFields. */
  readonly owned: string;
}

/** Writes objects by server-side apply, and only those that differ from what was applied before. */
export class Applier {
  readonly #deps: ApplierDeps;
  readonly #memory = new Map<string, Memory>();

  constructor(deps: ApplierDeps) {
    this.#deps = deps;
  }

  async ensure(wanted: Desired, { recovers, signal }: EnsureOptions): Promise<Ensured> {
    const { resource, object } = wanted;
    const key = `${resource.kind} ${keyOf(object)}`;
    const hash = hashOf(object);
    const live = this.#deps.live.find(resource, object.metadata.name);
    const known = this.#memory.get(key);
    const same = live && live.metadata.annotations?.[annotations.applied] === hash;
    if (same && known && known.uid === live.metadata.uid && known.owned === ownedHash(live)) {
      return 'unchanged';
    }
    if (same && !recovers) return known ? 'drifted' : 'unchanged';
    const written = await this.#apply(resource, object, hash, signal);
    this.#memory.set(key, { uid: written.metadata.uid, wanted: hash, owned: ownedHash(written) });
    if (!live) return 'created';
    if (written.metadata.resourceVersion === live.metadata.resourceVersion) return 'unchanged';
    return same ? 'repaired' : 'changed';
  }

  /** Creates an object that is never changed; one of this name that is there already stays. */
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

  /** Scales a Deployment of the legacy system to 0. */
  async stop(ref: ObjectRef, signal: AbortSignal): Promise<void> {
    const scaled = { spec: { replicas: 0 } };
    const options = { fieldManager: fieldManagers.lifecycle, signal };
    await this.#deps.perform('lifecycle.legacy.scale', () =>
      this.#deps.client.patch(deployments, ref, scaled, options),
    );
  }

  async remove({ resource, ref, propagationPolicy }: Removal, signal: AbortSignal): Promise<void> {
    await this.#deps.perform('lifecycle.object.delete', async () => {
      try {
        const policy = propagationPolicy ? { propagationPolicy } : {};
        await this.#deps.client.delete(resource, ref, { ...policy, signal });
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    });
  }

  async #apply(
    resource: Resource<KubeObject>,
    object: Draft<KubeObject>,
    hash: string,
    signal: AbortSignal,
  ): Promise<KubeObject> {
    const { metadata } = object;
    const noted = { ...metadata.annotations, [annotations.applied]: hash };
    const whole = { ...object, metadata: { ...metadata, annotations: noted } };
    return this.#deps.perform('lifecycle.object.apply', () =>
      this.#deps.client.apply(resource, whole, {
        fieldManager: fieldManagers.lifecycle,
        force: true,
        signal,
      }),
    );
  }
}

function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 32);
}

/** Hash of the fields that lifecycle owns of an object: another manager that changes one of them takes it away. */
function ownedHash({ metadata }: KubeObject): string {
  const managers = (metadata.managedFields ?? []) as readonly {
    readonly manager?: string;
    readonly operation?: string;
    readonly fieldsV1?: unknown;
  }[];
  const own = managers.find(
    ({ manager, operation }) => manager === fieldManagers.lifecycle && operation === 'Apply',
  );
  return hashOf(own?.fieldsV1 ?? null);
}
