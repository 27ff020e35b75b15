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

/** Fake Nova with servers `listed` in the project and `elsewhere` in other projects. */
function setUp(listed: readonly string[], elsewhere: readonly string[] = []) {
  const clock = createFakeClock();
  const requests: string[] = [];
  let version = 1;
  const turns = new RefreshTurns(clock);
  const directory = createServerDirectory({
    clock,
    turns,
    lifetime: signal,
    nova: {
      async list() {
        requests.push('list');
        return new Map(listed.map((id) => [id, serverOf(id, version)]));
      },
      async server(id) {
        requests.push(id);
        const servers = listed.includes(id) || elsewhere.includes(id);
        return servers ? { kind: 'found', value: serverOf(id, version) } : { kind: 'notFound' };
      },
    },
  });
  return {
    clock,
    turns,
    requests,
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
  test('up to ten servers are read by id, more by a single list', async () => {
    const few = setUp(ids(50));
    expect((await few.directory.servers(ids(10), signal)).size).toBe(10);
    expect(few.requests.toSorted()).toEqual(ids(10));
    const many = setUp(ids(50));
    expect((await many.directory.servers(ids(11), signal)).size).toBe(11);
    expect(many.requests).toEqual(['list']);
  });

  test('one list serves concurrent and later requests', async () => {
    const { directory, requests } = setUp(ids(50));
    await Promise.all([directory.servers(ids(20), signal), directory.servers(ids(40), signal)]);
    await directory.servers(['s49'], signal);
    expect(requests).toEqual(['list']);
  });

  test('servers learned from another list are not requested until five minutes later', async () => {
    const { directory, requests, clock } = setUp(ids(50));
    directory.learn(new Map(ids(50).map((id) => [id, serverOf(id, 7)])));
    expect((await directory.servers(ids(40), signal)).get('s3')?.name).toBe('s3-v7');
    expect(requests).toEqual([]);
    await clock.advance(300_000);
    await directory.servers(ids(40), signal);
    expect(requests).toEqual(['list']);
  });

  test('server names are read again after five minutes', async () => {
    const { directory, clock, rename } = setUp(['s0']);
    await directory.servers(['s0'], signal);
    rename();
    await clock.advance(299_999);
    expect((await directory.servers(['s0'], signal)).get('s0')?.name).toBe('s0-v1');
    await clock.advance(1);
    expect((await directory.servers(['s0'], signal)).get('s0')?.name).toBe('s0-v2');
  });

  test('an expired name stays in use until its refresh turn, up to fifteen minutes', async () => {
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

  test('an unknown id is absent and requested again after 30 seconds', async () => {
    const { directory, clock, requests, turns } = setUp(['s0']);
    expect([...(await directory.servers(['s0', 'gone'], signal)).keys()]).toEqual(['s0']);
    await directory.servers(['gone'], signal);
    expect(requests).toEqual(['s0', 'gone']);
    await clock.advance(30_000);
    // An unknown server is read again even when the refresh interval is used up.
    turns.spend();
    await directory.servers(['gone'], signal);
    expect(requests).toEqual(['s0', 'gone', 'gone']);
  });

  test('servers missing from the list are read by id, ten at a time', async () => {
    const { directory, requests } = setUp(ids(50), ids(12, 'other'));
    const wanted = [...ids(50), ...ids(12, 'other')];
    const servers = await directory.servers(wanted, signal);
    expect(servers.size).toBe(60);
    expect(requests).toHaveLength(11);
  });

  test('deleted servers do not prevent reads for later servers in the list', async () => {
    const { directory, clock } = setUp([], ids(3, 'other'));
    const wanted = [...ids(12, 'gone'), ...ids(3, 'other')];
    await directory.servers(wanted, signal);
    await clock.advance(30_000);
    expect([...(await directory.servers(wanted, signal)).keys()]).toEqual(ids(3, 'other'));
  });

  test('25 deleted servers cost a single round within 30 seconds', async () => {
    const { directory, requests } = setUp([]);
    await directory.servers(ids(25, 'gone'), signal);
    const first = requests.length;
    await directory.servers(ids(25, 'gone'), signal);
    expect([first, requests.length]).toEqual([11, 11]);
  });

  test('expired servers are removed from memory without a list', async () => {
    const { directory, clock } = setUp([], ids(100));
    const reads = ids(100).map(async (id) => {
      const server = (await directory.servers([id], signal)).get(id);
      return new WeakRef(server ?? {});
    });
    const servers = await Promise.all(reads);
    await clock.advance(20 * 60_000);
    await directory.servers(['other'], signal);
    collect();
    expect(servers.filter((server) => server.deref() !== undefined)).toEqual([]);
  });

  test('empty and duplicate ids cause no requests', async () => {
    const { directory, requests } = setUp(['s0']);
    await directory.servers(['', 's0', 's0'], signal);
    expect(requests).toEqual(['s0']);
  });
});
