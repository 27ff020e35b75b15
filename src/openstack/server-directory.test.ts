import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { createFakeClock } from '../time/fake-clock.ts';
import { RefreshTurns } from './refresh-turns.ts';
import type { ServerRecord } from './resources.ts';
import { createServerDirectory } from './server-directory.ts';

const signal = new AbortController().signal;
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function serverOf(id: string, version: number): ServerRecord {
  const name = `${id}-v${version}`;
  return { id, name, status: 'ACTIVE', metadata: {}, projectId: 'p', macAddresses: [] };
}

/** A Nova with the servers `listed` in the project and `elsewhere` in others. */
function setUp(listed: readonly string[], elsewhere: readonly string[] = []) {
  const clock = createFakeClock();
  const asked: string[] = [];
  let version = 1;
  const turns = new RefreshTurns(clock);
  const directory = createServerDirectory({
    clock,
    turns,
    lifetime: signal,
    nova: {
      async list() {
        asked.push('list');
        return new Map(listed.map((id) => [id, serverOf(id, version)]));
      },
      async server(id) {
        asked.push(id);
        const known = listed.includes(id) || elsewhere.includes(id);
        return known ? { kind: 'found', value: serverOf(id, version) } : { kind: 'notFound' };
      },
    },
  });
  return {
    clock,
    turns,
    asked,
    directory,
    rename: () => {
      version += 1;
    },
  };
}

function ids(count: number, prefix = 's'): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${index}`);
}

describe('createServerDirectory', () => {
  test('reads a few servers by id and many by one list', async () => {
    const few = setUp(ids(50));
    expect((await few.directory.servers(ids(10), signal)).size).toBe(10);
    expect(few.asked.toSorted()).toEqual(ids(10));
    const many = setUp(ids(50));
    expect((await many.directory.servers(ids(11), signal)).size).toBe(11);
    expect(many.asked).toEqual(['list']);
  });

  test('a list serves everybody who asks meanwhile and everybody after', async () => {
    const { directory, asked } = setUp(ids(50));
    await Promise.all([directory.servers(ids(20), signal), directory.servers(ids(40), signal)]);
    await directory.servers(['s49'], signal);
    expect(asked).toEqual(['list']);
  });

  test('what somebody else has listed is not asked for again', async () => {
    const { directory, asked, clock } = setUp(ids(50));
    directory.learn(new Map(ids(50).map((id) => [id, serverOf(id, 7)])));
    expect((await directory.servers(ids(40), signal)).get('s3')?.name).toBe('s3-v7');
    expect(asked).toEqual([]);
    await clock.advance(300_000);
    await directory.servers(ids(40), signal);
    expect(asked).toEqual(['list']);
  });

  test('names are read again after five minutes', async () => {
    const { directory, clock, rename } = setUp(['s0']);
    await directory.servers(['s0'], signal);
    rename();
    await clock.advance(299_999);
    expect((await directory.servers(['s0'], signal)).get('s0')?.name).toBe('s0-v1');
    await clock.advance(1);
    expect((await directory.servers(['s0'], signal)).get('s0')?.name).toBe('s0-v2');
  });

  test('names may wait for their turn to be read again', async () => {
    const { directory, clock, turns, rename } = setUp(['s0']);
    await directory.servers(['s0'], signal);
    rename();
    await clock.advance(300_000);
    turns.spend();
    expect((await directory.servers(['s0'], signal)).get('s0')?.name).toBe('s0-v1');
    await clock.advance(5_000);
    expect((await directory.servers(['s0'], signal)).get('s0')?.name).toBe('s0-v2');
    await clock.advance(900_000);
    rename();
    turns.spend();
    expect((await directory.servers(['s0'], signal)).get('s0')?.name).toBe('s0-v3');
  });

  test('an unknown id is absent, and asked for again after half a minute', async () => {
    const { directory, clock, asked, turns } = setUp(['s0']);
    expect([...(await directory.servers(['s0', 'gone'], signal)).keys()]).toEqual(['s0']);
    await directory.servers(['gone'], signal);
    expect(asked).toEqual(['s0', 'gone']);
    await clock.advance(30_000);
    // Whosever turn it is to read again: what is not known to be there is not used any longer.
    turns.spend();
    await directory.servers(['gone'], signal);
    expect(asked).toEqual(['s0', 'gone', 'gone']);
  });

  test('servers of another project are found by id behind the list, ten at a time', async () => {
    const { directory, asked } = setUp(ids(50), ids(12, 'other'));
    const wanted = [...ids(50), ...ids(12, 'other')];
    const servers = await directory.servers(wanted, signal);
    expect(servers.size).toBe(60);
    expect(asked).toHaveLength(11);
  });

  test('servers that are gone do not keep those behind them from ever being asked for', async () => {
    const { directory, clock } = setUp([], ids(3, 'other'));
    const wanted = [...ids(12, 'gone'), ...ids(3, 'other')];
    await directory.servers(wanted, signal);
    await clock.advance(30_000);
    expect([...(await directory.servers(wanted, signal)).keys()]).toEqual(ids(3, 'other'));
  });

  test('many that are gone cost one look in half a minute, not one at every poll', async () => {
    const { directory, asked } = setUp([]);
    await directory.servers(ids(25, 'gone'), signal);
    const first = asked.length;
    await directory.servers(ids(25, 'gone'), signal);
    expect([first, asked.length]).toEqual([11, 11]);
  });

  test('a few that come and go at a time do not stay for ever', async () => {
    const { directory, clock } = setUp([], ids(100));
    const seen = ids(100).map(async (id) => {
      const server = (await directory.servers([id], signal)).get(id);
      return new WeakRef(server ?? {});
    });
    const known = await Promise.all(seen);
    await clock.advance(20 * 60_000);
    await directory.servers(['other'], signal);
    collect();
    expect(known.filter((server) => server.deref() !== undefined)).toEqual([]);
  });

  test('empty ids and doubles cost nothing', async () => {
    const { directory, asked } = setUp(['s0']);
    await directory.servers(['', 's0', 's0'], signal);
    expect(asked).toEqual(['s0']);
  });
});
