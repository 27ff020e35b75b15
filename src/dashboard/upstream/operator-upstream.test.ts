import type { ServerResponse } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { listen } from '../../operator/testing/listener.ts';
import { LiveSession } from '../../session/live/live-session.ts';
import { createFakeClock, type FakeClock, until } from '../../time/fake-clock.ts';
import type { UpstreamEvent } from '../events/upstream.ts';
import { longestSilenceMs, OperatorUpstream } from './operator-upstream.ts';

interface Operator {
  readonly clock: FakeClock;
  readonly events: UpstreamEvent[];
  /** Last-Event-ID of each stream. */
  readonly resumed: (string | undefined)[];
  /** Open streams. */
  readonly streams: ServerResponse[];
  readonly subscribe: (lastId?: string, signal?: AbortSignal) => Promise<void>;
}

const never = new AbortController().signal;

/** Starts an operator with a stream; `status`: refuses the stream with a code. */
async function startOperator(status = 200, code = ''): Promise<Operator> {
  const [resumed, streams, events]: [(string | undefined)[], ServerResponse[], UpstreamEvent[]] = [
    [],
    [],
    [],
  ];
  const server = await listen('http', ({ url, headers }, answer) => {
    if (url !== '/v1/inventory/events') {
      answer.end('{}');
      return;
    }
    resumed.push(headers['last-event-id']?.toString());
    streams.push(answer);
    answer.writeHead(status, { 'content-type': 'text/event-stream' });
    if (status === 200) answer.flushHeaders();
    else answer.end(JSON.stringify({ code, detail: 'refused' }));
  });
  onTestFinished(() => server[Symbol.asyncDispose]());
  const clock = createFakeClock();
  const options = {
    businessContext: new Map<string, string>(),
    inventory: `http://127.0.0.1:${server.port}`,
  };
  const live = new LiveSession(options, { clock, random: () => 0.5 });
  onTestFinished(() => live[Symbol.asyncDispose]());
  const upstream = new OperatorUpstream(live, clock);
  const subscribe = (lastId?: string, signal = never) =>
    upstream.subscribe(lastId, (event) => void events.push(event), signal);
  return { clock, events, resumed, streams, subscribe };
}

it('events arrive as sent, also in pieces; a later name counts as a heartbeat', async () => {
  const { events, resumed, streams, subscribe } = await startOperator();
  const following = subscribe('r-4');
  await until('the stream', () => streams.length === 1);
  const text = [
    ': heartbeat\nid: r-4\n\n',
    'id: r-5\ndata: {"name":"가"}\n\n',
    'event: reset\nid: s-0\ndata: {}\n\n',
    'event: later\nid: s-1\ndata: {}\n\n',
    ': no id\n\n',
  ].join('');
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += 7) streams[0]?.write(bytes.subarray(at, at + 7));
  streams[0]?.end();
  await following;
  expect(resumed).toEqual(['r-4']);
  expect(events).toEqual([
    { kind: 'heartbeat', id: 'r-4' },
    { kind: 'change', id: 'r-5', data: '{"name":"가"}' },
    { kind: 'reset', id: 's-0' },
    { kind: 'heartbeat', id: 's-1' },
  ]);
});

it.each([
  ['an earlier operator', 404, 'NoSuchRoute'],
  ['an operator with too many readers', 503, 'TooManyStreams'],
])('%s makes tabs poll', async (_, status, code) => {
  const { events, subscribe } = await startOperator(status, code);
  await subscribe();
  expect(events).toEqual([{ kind: 'polling' }]);
});

it.each([
  [503, 'NotLeading'],
  [403, 'Forbidden'],
])('an operator with the answer %s %s is no reason to poll', async (status, code) => {
  const { events, subscribe } = await startOperator(status, code);
  await expect(subscribe()).rejects.toThrow('refused');
  expect(events).toEqual([]);
});

it('a silent stream ends, and a stream with heartbeats goes on', async () => {
  const { clock, events, streams, subscribe } = await startOperator();
  const following = subscribe();
  const ended = expect(following).rejects.toThrow('sent no event for 45 s');
  await until('the stream', () => streams.length === 1);
  streams[0]?.write(': heartbeat\nid: r-1\n\n');
  await until('the heartbeat', () => events.length === 1);
  await clock.advance(longestSilenceMs);
  streams[0]?.write(': heartbeat\nid: r-1\n\n');
  await until('the second heartbeat', () => events.length === 2);
  await clock.advance(longestSilenceMs);
  await clock.advance(longestSilenceMs);
  await ended;
});

it('a dashboard without tabs ends the stream', async () => {
  const { streams, subscribe } = await startOperator();
  const leave = new AbortController();
  const following = subscribe(undefined, leave.signal).catch((error: unknown) => error);
  await until('the stream', () => streams.length === 1);
  leave.abort(new Error('no tab'));
  expect(await following).toBeInstanceOf(Error);
  await until('the end', () => streams[0]?.closed === true);
});
