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
let asked: string[];
let answers: Answer[];
let learned: ReadonlyMap<string, Server>[];
let lists: ServerLists;

beforeEach(() => {
  clock = createFakeClock();
  [asked, answers, learned] = [[], [], []];
  const ask = async (what: string) => {
    asked.push(what);
    return new Promise<ReadonlyMap<string, Server>>((resolve, reject) => {
      answers.push((answer) => (answer instanceof Error ? reject(answer) : resolve(answer)));
    });
  };
  lists = new ServerLists({
    nova: { list: async () => ask('all'), tagged: async (tags) => ask(tags.join()) },
    clock,
    lifetime: signal,
    onListed: (servers) => learned.push(servers),
  });
});

describe('the lists of servers', () => {
  it('are asked for once by all who ask for the same, and told to whoever wants to know', async () => {
    const both = [
      lists.get(['a', 'b'], always, signal),
      lists.get(['b', 'a', 'b'], always, signal),
    ];
    answers[0]?.(one);
    expect(await Promise.all(both)).toEqual([one, one]);
    expect(await lists.get(['a', 'b'], clock.monotonicMs(), signal)).toEqual(one);
    expect(asked).toEqual(['a,b']);
    expect(learned).toEqual([one]);
  });

  it('of all servers and of those with other tags are others', () => {
    for (const tags of [[], ['a'], ['a,b'], ['a', 'b']]) {
      void lists.get(tags, always, signal);
    }
    expect(asked).toEqual(['all', 'a', 'a,b', 'a,b']);
  });

  it('are asked for again by who wants a younger one, even while one is under way', async () => {
    const first = lists.get([], always, signal);
    await clock.advance(1_000);
    const second = lists.get([], clock.monotonicMs(), signal);
    const third = lists.get([], Number.POSITIVE_INFINITY, signal);
    expect(asked).toHaveLength(3);
    const [late, ...others] = answers;
    for (const answer of others) answer(one);
    late?.(new Map());
    expect([await first, await second, await third]).toEqual([new Map(), one, one]);
    expect(await lists.get([], always, signal)).toEqual(one);
  });

  it('that failed are not remembered', async () => {
    const first = lists.get([], always, signal);
    answers[0]?.(new Error('503'));
    await expect(first).rejects.toThrow('503');
    void lists.get([], always, signal);
    expect(asked).toHaveLength(2);
  });

  it('leave a waiting asker that gives up, and go on', async () => {
    const leaving = new AbortController();
    const first = lists.get([], always, leaving.signal);
    leaving.abort(new Error('gone'));
    await expect(first).rejects.toThrow('gone');
    answers[0]?.(one);
    expect(await lists.get([], always, signal)).toEqual(one);
    expect(asked).toHaveLength(1);
  });

  it('that nobody asked for in ten minutes are forgotten', async () => {
    void lists.get([], always, signal);
    await clock.advance(11 * 60_000);
    void lists.get(['a'], always, signal);
    void lists.get([], always, signal);
    expect(asked).toEqual(['all', 'a', 'all']);
  });
});
