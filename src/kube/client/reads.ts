import { isAbsent, isGone, isTooLarge } from '../errors.ts';
import type { KubeObject, ObjectRef } from '../object.ts';
import { collectionPath, objectPath, type Resource } from '../resource.ts';
import type { CallOptions, KubeClient, Listed, ListOptions, ListPage } from './client.ts';
import { pagesOf } from './pages.ts';
import type { Transport } from './transport.ts';
import { listSchema, parsed, readObject, versionSchema } from './wire.ts';

/** Size limit for a list page: its memory adds to the part's stored data. */
const maxPageBytes = 4 * 1024 * 1024;

type Reads = Pick<KubeClient, 'get' | 'find' | 'list' | 'listAll' | 'version'>;

/** Creates the client's read methods. */
export function reads(transport: Transport): Reads {
  async function get<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    { signal }: CallOptions = {},
  ): Promise<T> {
    const path = objectPath(resource, ref);
    return readObject(
      resource,
      await transport.call({ method: 'GET', path, repeatable: true, signal }),
    );
  }

  async function find<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    options?: CallOptions,
  ): Promise<T | undefined> {
    try {
      return await get(resource, ref, options);
    } catch (error) {
      if (isAbsent(error)) return undefined;
      throw error;
    }
  }

  async function list<T extends KubeObject>(
    resource: Resource<T>,
    options: ListOptions = {},
  ): Promise<ListPage<T>> {
    try {
      return await listOnce(resource, options);
    } catch (error) {
      const { limit = 1 } = options;
      if (!isTooLarge(error) || limit === 1) throw error;
      // A shorter page also has a continue token.
      return list(resource, { ...options, limit: Math.ceil(limit / 2) });
    }
  }

  async function listOnce<T extends KubeObject>(
    resource: Resource<T>,
    { namespace, signal, ...query }: ListOptions,
  ): Promise<ListPage<T>> {
    const path = collectionPath(resource, namespace);
    const answer = await transport.call({
      method: 'GET',
      path,
      query: { ...query },
      repeatable: true,
      signal,
      ...(query.limit !== undefined && query.limit > 1 && { maxBytes: maxPageBytes }),
    });
    const { items, metadata } = parsed(listSchema, answer, `listing ${path}`);
    return {
      items: (items ?? []).map((item) => readObject(resource, item)),
      resourceVersion: metadata.resourceVersion,
      ...(metadata.continue ? { continue: metadata.continue } : {}),
    };
  }

  async function listPages<T extends KubeObject>(
    resource: Resource<T>,
    options: ListOptions,
  ): Promise<Listed<T>> {
    const items: T[] = [];
    let resourceVersion = '';
    for await (const page of pagesOf({ list }, resource, options)) {
      items.push(...page.items);
      ({ resourceVersion } = page);
    }
    return { items, resourceVersion };
  }

  async function listAll<T extends KubeObject>(
    resource: Resource<T>,
    options: Omit<ListOptions, 'limit' | 'continue'> = {},
  ): Promise<Listed<T>> {
    try {
      return await listPages(resource, options);
    } catch (error) {
      // A continue token lives as long as etcd keeps its revision, about 5 min.
      if (isGone(error)) return listPages(resource, options);
      throw error;
    }
  }

  async function version({ signal }: CallOptions = {}) {
    const answer = await transport.call({
      method: 'GET',
      path: '/version',
      repeatable: true,
      signal,
    });
    return parsed(versionSchema, answer, 'reading /version');
  }

  return { get, find, list, listAll, version };
}
