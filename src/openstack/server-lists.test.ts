import { beforeEach, describe, expect, it } from 'vitest';
import { createFakeClock, type FakeClock } from '../time/fake-clock.ts';
import type { Server } from './resources.ts';
import { ServerLists } from './server-lists.ts';

type Answer = (servers: ReadonlyMap<string, Server> | Error) => void;

const { signal } = new AbortController();
const always = Number.NEGATIVE_INFINITY;
const server: Server = { id: 's1', name: 'a', status: 'ACTIVE', metadata: {}, projectId: 'p' };
const one = new Map([['s1', server]]);

let clock: FakeClock;
let requests: string[];
let answers: Answer[];
let learned: ReadonlyMap<string, Server>[];
let lists: ServerLists;

beforeEach(() => {
  clock = createFakeClock();
  [requests, answers, learned] = [[], [], []];
  const request = async (what: string) => {
    requests.push(what);
    return new Promise<ReadonlyMap<string, Server>>((resolve, reject) => {
      answers.push((answer) => (answer instanceof Error ? reject(answer) : resolve(answer)));
    });
  };
  lists = new ServerLists({
    nova: { list: async () => request('all'), tagged: async (tags) => request(tags.join()) },
    clock,
    lifetime: signal,
    onListed: (servers) => learned.push(servers),
  });
});

describe('ServerLists', () => {
  it('a list is requested once for equal tags, shared by all callers and passed to onListed', async () => {
    const results = [
      lists.get(['a', 'b'], always, signal),
      lists.get(['b', 'a', 'b'], always, signal),
    ];
    answers[0]?.(one);
    expect(await Promise.all(results)).toEqual([one, one]);
    expect(await lists.get(['a', 'b'], clock.monotonicMs(), signal)).toEqual(one);
    expect(requests).toEqual(['a,b']);
    expect(learned).toEqual([one]);
  });

  it('lists with different tags are requested separately', () => {
    for (const tags of [[], ['a'], ['a,b'], ['a', 'b']]) {
      void lists.get(tags, always, signal);
    }
    expect(requests).toEqual(['all', 'a', 'a,b', 'a,b']);
  });

  it('a caller that needs a newer list starts another request, even while one runs', async () => {
    const first = lists.get([], always, signal);
    await clock.advance(1_000);
    const second = lists.get([], clock.monotonicMs(), signal);
    const third = lists.get([], Number.POSITIVE_INFINITY, signal);
    expect(requests).toHaveLength(3);
    const [late, ...others] = answers;
    for (const answer of others) answer(one);
    late?.(new Map());
    expect([await first, await second, await third]).toEqual([new Map(), one, one]);
    expect(await lists.get([], always, signal)).toEqual(one);
  });

  it('a failed list is not cached', async () => {
    const first = lists.get([], always, signal);
    answers[0]?.(new Error('503'));
    await expect(first).rejects.toThrow('503');
    void lists.get([], always, signal);
    expect(requests).toHaveLength(2);
  });

  it('an aborted caller leaves the shared list running', async () => {
    const leaving = new AbortController();
    const first = lists.get([], always, leaving.signal);
    leaving.abort(new Error('gone'));
    await expect(first).rejects.toThrow('gone');
    answers[0]?.(one);
    expect(await lists.get([], always, signal)).toEqual(one);
    expect(requests).toHaveLength(1);
  });

  it('lists unused for ten minutes are dropped', async () => {
    void lists.get([], always, signal);
    await clock.advance(11 * 60_000);
    void lists.get(['a'], always, signal);
    void lists.get([], always, signal);
    expect(requests).toEqual(['all', 'a', 'all']);
  });
});
