import { expect, it } from 'vitest';
import { type Change, type FeedSource, LiveFeed } from './live-feed.ts';

/** A source whose responses, pauses and clock come from the test. */
class ScriptedSource implements FeedSource {
  readonly lastIds: (string | undefined)[] = [];
  readonly pauses: number[] = [];
  readonly #responses: (Response | Error)[];
  #time = 0;
  /** Resolves when all responses are used. */
  readonly used = Promise.withResolvers<void>();

  constructor(responses: readonly (Response | Error)[]) {
    this.#responses = [...responses];
  }

  request = async (lastId: string | undefined, end: AbortSignal): Promise<Response> => {
    this.lastIds.push(lastId);
    const response = this.#responses.shift();
    if (response instanceof Error) throw response;
    if (response !== undefined) return response;
    this.used.resolve();
    return new Promise((_, reject) =>
      end.addEventListener('abort', () => reject(new Error('end'))),
    );
  };

  now = (): number => {
    this.#time += 1;
    return this.#time;
  };

  /** The silence of a connection never passes; other pauses pass at once. */
  pause = async (ms: number, end: AbortSignal): Promise<void> => {
    if (ms !== 45_000) {
      this.pauses.push(ms);
      return;
    }
    await new Promise<void>((resolve) => end.addEventListener('abort', () => resolve()));
  };
}

/** Runs a feed until all responses are used. */
async function run(responses: readonly (Response | Error)[]) {
  const source = new ScriptedSource(responses);
  const feed = new LiveFeed(source);
  const changes: Change[] = [];
  feed.onChange((change) => changes.push(change));
  feed.open();
  await source.used.promise;
  feed.close();
  return { source, feed, changes };
}

const change = { kind: 'config', key: 'a/b', row: null };
const heartbeat = 'event: heartbeat\nid: r-1\ndata: {}\n\n';

it('a cut stream resumes after the last event', async () => {
  const data = `${heartbeat}id: r-2\ndata: ${JSON.stringify(change)}\n\nid: r-3\nda`;
  const { source, feed, changes } = await run([new Response(data), new Error('cut')]);
  expect(source.lastIds).toEqual([undefined, 'r-2', 'r-2']);
  expect(changes).toEqual([undefined, change]);
  expect(feed.mode.value).toBe('live');
  expect(source.pauses).toEqual([1_000, 2_000]);
});

it('a reset makes everything doubtful', async () => {
  const { changes } = await run([new Response('event: reset\ndata: {}\n\n')]);
  expect(changes).toEqual([undefined, undefined]);
});

it.each([
  ['a server without stream', new Response('{}', { status: 404 }), 'polling', 60_000],
  [
    'a server with too many tabs',
    new Response('{}', { status: 503, headers: { 'retry-after': '30' } }),
    'polling',
    30_000,
  ],
  ['an operator without stream', new Response('event: polling\ndata: {}\n\n'), 'polling', 1_000],
])('%s leads to the mode %3$s', async (_, response, mode, pauseMs) => {
  const { feed, source } = await run([response]);
  expect([feed.mode.value, source.pauses]).toEqual([mode, [pauseMs]]);
});
