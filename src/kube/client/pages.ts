import type { KubeObject } from '../object.ts';
import type { Resource } from '../resource.ts';
import type { KubeClient, ListOptions, ListPage } from './client.ts';

/** As client-go: large enough for few round trips, small enough for the server's and our memory. */
const usualPageSize = 500;

/** A whole collection, page by page. All pages are of one version; throws `isGone` when the server has forgotten it. */
export async function* pagesOf<T extends KubeObject>(
  { list }: Pick<KubeClient, 'list'>,
  resource: Resource<T>,
  options: Omit<ListOptions, 'limit' | 'continue'>,
  pageSize = usualPageSize,
): AsyncGenerator<ListPage<T>> {
  let token: string | undefined;
  do {
    // The continue token carries the version of the first page; naming one beside it is refused.
    const { resourceVersion: _, ...later } = options;
    const start = token === undefined ? options : { ...later, continue: token };
    const page = await list(resource, { ...start, limit: pageSize });
    yield page;
    token = page.continue;
  } while (token !== undefined);
}
