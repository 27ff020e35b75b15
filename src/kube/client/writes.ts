import type { Draft, KubeObject, ObjectRef } from '../object.ts';
import { collectionPath, objectPath, objectVersionOf, type Resource } from '../resource.ts';
import type { ApplyOptions, DeleteOptions, KubeClient, WriteOptions } from './client.ts';
import type { Transport } from './transport.ts';
import { readObject } from './wire.ts';

type Writes = Pick<
  KubeClient,
  'create' | 'apply' | 'applyStatus' | 'patch' | 'patchStatus' | 'delete'
>;

/** Creates the client's write methods. */
export function writes(transport: Transport): Writes {
  async function create<T extends KubeObject>(
    resource: Resource<T>,
    object: Draft<NoInfer<T>>,
    options: WriteOptions = {},
  ): Promise<T> {
    const created = await transport.call({
      method: 'POST',
      path: collectionPath(resource, namespaceOf(resource, object)),
      query: writeQuery(options),
      body: withKind(resource, object),
      repeatable: false,
      signal: options.signal,
    });
    return readObject(resource, created);
  }

  async function applyTo<T extends KubeObject>(
    resource: Resource<T>,
    path: string,
    object: Draft<NoInfer<T>>,
    options: ApplyOptions,
  ): Promise<T> {
    const applied = await transport.call({
      method: 'PATCH',
      path,
      query: {
        ...writeQuery(options),
        force: options.force ? true : undefined,
        timeout: options.timeoutSeconds === undefined ? undefined : `${options.timeoutSeconds}s`,
      },
      contentType: 'application/apply-patch+yaml', // JSON is YAML
      body: withKind(resource, object),
      repeatable: true,
      signal: options.signal,
    });
    return readObject(resource, applied);
  }

  async function patchAt<T extends KubeObject>(
    resource: Resource<T>,
    path: string,
    mergePatch: unknown,
    options: WriteOptions,
  ): Promise<T> {
    const patched = await transport.call({
      method: 'PATCH',
      path,
      query: writeQuery(options),
      contentType: 'application/merge-patch+json',
      body: mergePatch,
      // Not idempotent: a second execution could undo a concurrent write.
      repeatable: false,
      signal: options.signal,
    });
    return readObject(resource, patched);
  }

  async function remove<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    { uid, resourceVersion, propagationPolicy, gracePeriodSeconds, signal }: DeleteOptions = {},
  ): Promise<void> {
    await transport.call({
      method: 'DELETE',
      path: objectPath(resource, ref),
      body: {
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        propagationPolicy,
        gracePeriodSeconds,
        ...(uid || resourceVersion ? { preconditions: { uid, resourceVersion } } : {}),
      },
      // Without a uid, a second execution could delete a new object with the same name.
      repeatable: uid !== undefined,
      signal,
    });
  }

  return {
    create,
    apply: (resource, object, options) =>
      applyTo(resource, objectPath(resource, object.metadata), object, options),
    applyStatus: (resource, object, options) =>
      applyTo(resource, statusPath(resource, object.metadata), object, options),
    patch: (resource, ref, mergePatch, options = {}) =>
      patchAt(resource, objectPath(resource, ref), mergePatch, options),
    patchStatus: (resource, ref, mergePatch, options = {}) =>
      patchAt(resource, statusPath(resource, ref), mergePatch, options),
    delete: remove,
  };
}

function statusPath(resource: Resource<KubeObject>, ref: ObjectRef): string {
  return `${objectPath(resource, ref)}/status`;
}

function namespaceOf(resource: Resource<KubeObject>, { metadata }: KubeObject): string | undefined {
  // Validates the namespace: without one, a namespaced object's path would not exist.
  objectPath(resource, metadata);
  return metadata.namespace;
}

function withKind(resource: Resource<KubeObject>, object: KubeObject): KubeObject {
  return { ...object, apiVersion: objectVersionOf(resource), kind: resource.kind };
}

function writeQuery({ fieldManager, dryRun }: WriteOptions) {
  return { fieldManager, dryRun: dryRun ? 'All' : undefined };
}
