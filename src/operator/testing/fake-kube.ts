import { finalizers } from '../../api/names.ts';
import { Store as ObjectStore } from '../../kube/cache/store.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { type Secret, secrets } from '../../kube/core-resources.ts';
import { KubeError } from '../../kube/errors.ts';
import { type KubeObject, keyOf, type ObjectMeta, type ObjectRef } from '../../kube/object.ts';
import type { ConfigObject } from '../model/openstack-config.ts';

/** An API server with OpenstackConfigs, Secrets, and every requested namespace and CRD. */
export class FakeKube implements Pick<KubeClient, 'find' | 'patch' | 'applyStatus'> {
  readonly configs = new ObjectStore<ConfigObject>();
  readonly secrets = new Map<string, Secret>();
  readonly writes: string[] = [];
  /** Error for the next reads of Secrets. */
  secretFailure: KubeError | undefined;
  /** Namespaces and CRDs being deleted. */
  readonly terminating = new Set<string>();
  /** Namespaces and CRDs deleted by force. */
  readonly missing = new Set<string>();
  /** Error for the next reads of namespaces and CRDs. */
  ownerFailure: KubeError | undefined;
  /** uid of the Namespace kube-system. */
  cluster = 'cluster-1';
  #version = 1;

  create(wanted: unknown, meta: Partial<ObjectMeta>): void {
    const creationTimestamp = '2026-01-01T00:00:00Z';
    const identity = { namespace: 'multinic-system', name: 'osc', uid: 'cr-uid', generation: 1 };
    this.#store({ metadata: { ...identity, creationTimestamp, ...meta }, spec: wanted });
  }

  edit(wanted: unknown, ref?: ObjectRef): void {
    const object = this.#object(ref);
    const generation = (object.metadata.generation ?? 0) + 1;
    this.#store({ ...object, metadata: { ...object.metadata, generation }, spec: wanted });
  }

  annotate(values: Readonly<Record<string, string>>, ref?: ObjectRef): void {
    const { metadata, ...object } = this.#object(ref);
    const annotations = { ...metadata.annotations, ...values };
    this.#store({ ...object, metadata: { ...metadata, annotations } });
  }

  /** Acts like `kubectl delete`: without a finalizer the object is gone at once. Without a name: the first object. */
  delete(ref?: ObjectRef): void {
    const { metadata, ...object } = this.#object(ref);
    const deletionTimestamp = '2026-01-01T01:00:00Z';
    // An API server counts a deletion as a new generation.
    const generation = (metadata.generation ?? 0) + 1;
    this.#store({ ...object, metadata: { ...metadata, generation, deletionTimestamp } });
    this.#collect(metadata);
  }

  find = (async (resource: unknown, { namespace, name }: { namespace?: string; name: string }) => {
    if (resource !== secrets) return this.#findOwner(name);
    if (this.secretFailure) throw this.secretFailure;
    return this.secrets.get(`${namespace}/${name}`);
  }) as KubeClient['find'];

  patch = (async (_resource: unknown, ref: ObjectRef, patch: unknown) => {
    const { metadata } = patch as { metadata: ObjectMeta };
    const object = this.#object(ref);
    if (metadata.resourceVersion !== object.metadata.resourceVersion) throw conflict;
    const { finalizers: list } = metadata;
    this.writes.push(`finalizers ${list?.join(',')}`);
    const after = this.#store({
      ...object,
      metadata: { ...object.metadata, finalizers: list ?? [] },
    });
    this.#collect(ref);
    return after;
  }) as KubeClient['patch'];

  applyStatus = (async (_resource: unknown, applied: unknown) => {
    this.writes.push('status');
    const { metadata, status } = applied as ConfigObject;
    return this.#store({ ...this.#object(metadata), status });
  }) as unknown as KubeClient['applyStatus'];

  #findOwner(name: string): KubeObject | undefined {
    if (this.missing.has(name)) return undefined;
    if (name === 'kube-system') return { metadata: { name, uid: this.cluster } };
    if (this.ownerFailure) throw this.ownerFailure;
    const deletionTimestamp = '2026-01-01T00:59:59Z';
    return { metadata: { name, ...(this.terminating.has(name) ? { deletionTimestamp } : {}) } };
  }

  /** Returns the object with this name; without a name, the first object. */
  #object(ref?: ObjectRef): ConfigObject {
    const object = ref ? this.configs.get(keyOf(ref)) : this.configs.list()[0];
    if (!object) throw new KubeError({ status: 404, reason: 'NotFound', message: 'not found' });
    return object;
  }

  #store<T extends ConfigObject & KubeObject>(object: T): T {
    this.#version += 1;
    const resourceVersion = String(this.#version);
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion } };
    this.configs.upsert(stored);
    return stored;
  }

  #collect(ref: ObjectRef): void {
    const { metadata } = this.#object(ref);
    const waits = metadata.finalizers?.includes(finalizers.openstackConfig) === true;
    if (metadata.deletionTimestamp === undefined || waits) return;
    this.configs.replace(this.configs.list().filter((other) => keyOf(other) !== keyOf(ref)));
  }
}

const conflict = new KubeError({ status: 409, reason: 'Conflict', message: 'modified' });
