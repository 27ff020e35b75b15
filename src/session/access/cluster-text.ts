import { Pool } from 'undici';
import type { ClusterAccess } from '../../kube/access/access.ts';
import { connector } from '../../kube/client/connector.ts';
import { KubeError } from '../../kube/errors.ts';
import { DeadlineReached, type Limit, withDeadline } from '../../time/deadline.ts';

/** Reads text from an API server, such as a container's log. Rejects with a KubeError, DeadlineReached at the limit. */
export async function readClusterText(
  access: ClusterAccess,
  path: string,
  limit: Limit,
): Promise<string> {
  try {
    return await withDeadline(limit, (signal) => readText(access, path, signal));
  } catch (error) {
    const isKnown = error instanceof KubeError || error instanceof DeadlineReached;
    if (isKnown || limit.signal?.aborted === true) throw error;
    const message = error instanceof Error ? error.message : String(error);
    throw new KubeError({ status: 0, reason: 'Unreachable', message, cause: error });
  }
}

async function readText(access: ClusterAccess, path: string, signal: AbortSignal): Promise<string> {
  const { origin, pathname } = new URL(access.server);
  await using pool = disposable(new Pool(origin, { connect: connector(access, 10_000) }));
  const token = await access.token?.();
  const { statusCode, body } = await pool.value.request({
    method: 'GET',
    path: pathname.replace(/\/$/, '') + path,
    signal,
    headersTimeout: 0,
    bodyTimeout: 0,
    ...(token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } }),
  });
  const text = await body.text();
  if (statusCode < 300) return text;
  const reason = statusCode === 403 ? 'Forbidden' : 'Unreadable';
  throw new KubeError({ status: statusCode, reason, message: text.slice(0, 500) });
}

function disposable(value: Pool) {
  return { value, [Symbol.asyncDispose]: () => value.destroy() };
}
