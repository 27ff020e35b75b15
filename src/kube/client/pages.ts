import type { KubeObject } from '../object.ts';
import type { Resource } from '../resource.ts';
import type { KubeClient, ListOptions, ListPage } from './client.ts';

/** Page size as in client-go: few round trips, moderate memory on both sides. */
const defaultPageSize = 500;

/**
 * Lists a whole collection page by page, with one version for all pages; throws `isGone` if the version has expired.
 */
export async function* pagesOf<T extends KubeObject>(
  { list }: Pick<KubeClient, 'list'>,
  resource: Resource<T>,
  options: Omit<ListOptions, 'limit' | 'continue'>,
  pageSize = defaultPageSize,
): AsyncGenerator<ListPage<T>> {
  let token: string | undefined;
  do {
    // The continue token carries the first page's version; the server refuses an additional one.
    const { resourceVersion: _, ...later } = options;
    const start = token === undefined ? options : { ...later, continue: token };
    const page = await list(resource, { ...start, limit: pageSize });
    yield page;
    token = page.continue;
  } while (token !== undefined);
}
