import { type Clock, endOfWait, passed } from '../../time/clock.ts';
import { KubeError } from '../errors.ts';
import type { KubeObject } from '../object.ts';
import { collectionPath, type Resource } from '../resource.ts';
import { parseJson } from './answer.ts';
import type { WatchEvent, WatchOptions } from './client.ts';
import { lines } from './lines.ts';
import type { Transport } from './transport.ts';
import { parsed, readObject, refused, watchEventSchema } from './wire.ts';

/**
 * Streams changes after a resourceVersion. Ends when the server ends the stream. Throws a `KubeError` if the stream
 * breaks, stays silent for `idleMs` or the version has expired (410), and the signal's reason on abort.
 */
export async function* watch<T extends KubeObject>(
  { transport, clock }: { transport: Transport; clock: Clock },
  resource: Resource<T>,
  options: WatchOptions,
): AsyncGenerator<WatchEvent<T>> {
  const { signal, idleMs } = options;
  const path = collectionPath(resource, options.namespace);
  const doing = `watching ${path}`;
  signal?.throwIfAborted();
  const stop = new AbortController();
  const onAbort = (): void => stop.abort(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    const query = watchQuery(options);
    const request = { method: 'GET', path, query, repeatable: false, signal: stop.signal } as const;
    const body = await transport.open(request);
    const bytes = idleMs === undefined ? body : guarded(body, { clock, idleMs, stop, doing });
    for await (const line of lines(bytes, doing)) yield decode(resource, line, doing);
  } catch (error) {
    if (stop.signal.aborted) throw stop.signal.reason;
    if (error instanceof KubeError) throw error;
    const message = `${doing}: ${error instanceof Error ? error.message : String(error)}`;
    throw new KubeError({ status: 0, reason: 'Unreachable', message, cause: error });
  } finally {
    signal?.removeEventListener('abort', onAbort);
  }
}

function watchQuery(options: WatchOptions) {
  return {
    watch: true,
    allowWatchBookmarks: true,
    resourceVersion: options.resourceVersion,
    timeoutSeconds: options.timeoutSeconds,
    labelSelector: options.labelSelector,
    fieldSelector: options.fieldSelector,
  };
}

interface Guard {
  readonly clock: Clock;
  readonly idleMs: number;
  readonly stop: AbortController;
  readonly doing: string;
}

/** Passes bytes on; aborts the stream after `idleMs` without a byte, not counting the reader's time. */
async function* guarded(
  body: AsyncIterable<Buffer>,
  { clock, idleMs, stop, doing }: Guard,
): AsyncGenerator<Buffer> {
  const arm = (): AbortController => {
    const timer = new AbortController();
    void passed(clock, idleMs, timer.signal).then((silent) => {
      const message = `${doing}: no data for ${idleMs} ms`;
      if (silent) stop.abort(new KubeError({ status: 0, reason: 'Timeout', message }));
    });
    return timer;
  };
  let timer = arm();
  try {
    for await (const chunk of body) {
      timer.abort(endOfWait);
      yield chunk;
      timer = arm();
    }
  } finally {
    timer.abort(endOfWait);
  }
}

function decode<T extends KubeObject>(
  resource: Resource<T>,
  line: string,
  doing: string,
): WatchEvent<T> {
  const event = parsed(watchEventSchema, parseJson(line, doing), doing);
  if (event.type === 'ERROR') throw refused({ status: 0, doing, body: event.object });
  return event.type === 'BOOKMARK'
    ? { type: event.type, resourceVersion: event.object.metadata.resourceVersion }
    : { type: event.type, object: readObject(resource, event.object) };
}
