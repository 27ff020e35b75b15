import type { ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';
import { createFakeClock, until } from '../../time/fake-clock.ts';
import { createReflector, type ReflectorOptions } from '../cache/reflector.ts';
import { Store } from '../cache/store.ts';
import { createKubeClient } from '../client/http-client.ts';
import { type ConfigMap, configMaps } from '../core-resources.ts';
import { answer, type ReceivedRequest, refuse, startScriptedServer } from './scripted-server.ts';

/** How the server answers one list or watch. */
export type Reply = (response: ServerResponse, request: ReceivedRequest) => void;

/** An object as the server sends it. */
export const item = (name: string, resourceVersion: number, more: object = {}) => ({
  metadata: { name, uid: `uid-${name}`, resourceVersion: String(resourceVersion), ...more },
});
/** A list of everything in one page. */
export const listed =
  (resourceVersion: number, ...items: object[]): Reply =>
  (response) =>
    answer(response, 200, { metadata: { resourceVersion: String(resourceVersion) }, items });
export const refused =
  (code: number, headers?: Record<string, string>): Reply =>
  (response) =>
    refuse(response, code, 'No', headers);
/** Sends these lines and leaves the stream open. */
export const streaming =
  (...lines: string[]): Reply =>
  (response) => {
    response.flushHeaders();
    for (const each of lines) response.write(each);
  };
/** Sends these lines and ends the stream. */
export const ending =
  (...lines: string[]): Reply =>
  (response) =>
    response.end(lines.join(''));
/** Opens the stream and says nothing. */
export const silent: Reply = (response) => response.flushHeaders();

/** How far the server says it is, to who asks for no more than that. */
const farAhead = listed(1_000_000);

/** A reflector on a server that answers lists and watches with these replies, the last one again and again. */
export async function bench(
  replies: { readonly lists: readonly Reply[]; readonly watches: readonly Reply[] },
  options: Partial<ReflectorOptions<ConfigMap>> = {},
) {
  const clock = createFakeClock();
  const counts = { lists: 0, watches: 0 };
  const versions: (string | null)[] = [];
  const server = await startScriptedServer((request, response) => {
    if (request.query.get('limit') === '1') return farAhead(response, request);
    const kind = request.query.has('watch') ? 'watches' : 'lists';
    if (kind === 'watches') versions.push(request.query.get('resourceVersion'));
    replies[kind][Math.min(counts[kind]++, replies[kind].length - 1)]?.(response, request);
  });
  const client = createKubeClient({ server: server.url }, { clock, random: () => 0.5 });
  const store = new Store<ConfigMap>();
  const log: string[] = [];
  store.subscribe(({ type, object }) =>
    log.push(`${type} ${object.metadata.name} ${object.metadata.resourceVersion}`),
  );
  const errors: string[] = [];
  const reflector = createReflector({
    client,
    resource: configMaps,
    store,
    clock,
    random: () => 0.5,
    onError: (error, ms) => errors.push(`${String(error)} | ${Math.round(ms)}`),
    ...options,
  });
  const stop = new AbortController();
  let running = reflector.run(stop.signal);
  const end = async (): Promise<void> => {
    stop.abort();
    await running;
    await client[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  };
  onTestFinished(end);
  /** Waits for a pause of the reflector and lets it pass. */
  const pass = async (ms: number): Promise<void> => {
    await until(
      `a pause of ${ms} ms`,
      () => reflector.state === 'waiting' && clock.waits[0] === ms,
    );
    await clock.advance(ms);
  };
  const rerun = (signal: AbortSignal): Promise<void> => (running = reflector.run(signal));
  return {
    clock,
    counts,
    versions,
    server,
    store,
    log,
    errors,
    reflector,
    stop,
    running,
    pass,
    rerun,
  };
}
