import { describe, expect, it } from 'vitest';
import type { Port } from '../../../openstack/resources.ts';
import { createFakeClock } from '../../../time/fake-clock.ts';
import { PortDirectory } from './port-directory.ts';
import { RecentPorts } from './recent-ports.ts';

const lifetime = new AbortController().signal;
const { signal } = new AbortController();

function port(id: string, deviceId: string): Port {
  return {
    id,
    name: '',
    networkId: 'net',
    macAddress: 'fa:16:3e:00:00:01',
    status: 'ACTIVE',
    deviceId,
    deviceOwner: 'compute:nova',
    createdAt: undefined,
    revisionNumber: 1,
    projectId: 'project',
    fixedIps: [],
  };
}

/** Returns a directory whose cloud answers from `ports` and records each requested server list. */
function setUp(ports: Port[] = []) {
  const clock = createFakeClock();
  const requests: (readonly string[])[] = [];
  let release = Promise.resolve();
  const cloud = {
    async portsOf(serverIds: readonly string[]) {
      requests.push(serverIds);
      const answer = ports.filter(({ deviceId }) => serverIds.includes(deviceId));
      await release;
      return answer;
    },
  };
  const directory = new PortDirectory({
    cloud,
    clock,
    lifetime,
    recentPorts: new RecentPorts(clock),
  });
  const hold = () => {
    const gate = Promise.withResolvers<void>();
    release = gate.promise;
    return gate;
  };
  return { clock, requests, directory, hold, ports };
}

function names(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, n) => `${prefix}${n}`);
}

/** Lists `s1` and `s2`, and sends port events before and during the list. */
async function listedWithEvents(events: { readonly before?: string; readonly during?: string }) {
  const fixture = setUp([port('p1', 's1'), port('p2', 's2')]);
  const { clock, directory, hold, ports } = fixture;
  if (events.before) directory.concerned('a', [], [events.before]);
  await clock.advance(1);
  const gate = hold();
  const list = directory.portsOf('a', ['s1', 's2'], clock.monotonicMs(), signal);
  await clock.advance(1);
  if (events.during) directory.concerned('a', [], [events.during]);
  ports.splice(0, 1);
  gate.resolve();
  return { ...fixture, ids: (await list).map(({ id }) => id) };
}

describe('PortDirectory', () => {
  it("PortDirectory lists ports once for all callers satisfied with the list's age", async () => {
    const { clock, requests, directory } = setUp([port('p1', 's1')]);
    const first = await directory.portsOf('a', ['s1'], clock.monotonicMs() - 10_000, signal);
    await clock.advance(10_000);
    const second = await directory.portsOf('b', ['s1'], clock.monotonicMs() - 10_000, signal);
    expect([first, second].map((list) => list.map(({ id }) => id))).toEqual([['p1'], ['p1']]);
    expect(requests).toEqual([['s1']]);
    await clock.advance(1);
    await directory.portsOf('b', ['s1'], clock.monotonicMs() - 10_000, signal);
    expect(requests).toHaveLength(2);
  });

  it('PortDirectory fills a batch with the least recently listed servers from further OpenstackConfigs', async () => {
    const { clock, requests, directory } = setUp();
    await directory.portsOf('b', ['old'], clock.monotonicMs() - 10_000, signal);
    await clock.advance(1);
    await directory.portsOf('c', names('c', 60), clock.monotonicMs() - 10_000, signal);
    await clock.advance(1);
    await directory.portsOf('a', names('a', 50), clock.monotonicMs() - 10_000, signal);
    expect(requests[2]).toHaveLength(100);
    expect(requests[2]).toContain('old');
    await directory.portsOf('b', ['old'], 1, signal);
    expect(requests).toHaveLength(3);
  });

  it('PortDirectory requests no more batches than the caller needs', async () => {
    const { requests, clock, directory } = setUp();
    await directory.portsOf('big', names('b', 1_000), clock.monotonicMs() - 10_000, signal);
    await directory.portsOf('small', ['s1'], Number.POSITIVE_INFINITY, signal);
    expect(requests.map((ids) => ids.length)).toEqual([1_000, 100]);
  });

  it('PortDirectory lets callers join a running list, except a caller needing a newer list', async () => {
    const { requests, clock, directory, hold } = setUp();
    const gate = hold();
    const joined = [
      directory.portsOf('a', ['s1'], clock.monotonicMs() - 10_000, signal),
      directory.portsOf('b', ['s1'], clock.monotonicMs() - 10_000, signal),
      directory.portsOf('c', ['s1'], Number.POSITIVE_INFINITY, signal),
    ];
    gate.resolve();
    await Promise.all(joined);
    expect(requests).toHaveLength(2);
  });

  it('a port moved between two servers is taken from the younger list', async () => {
    const { clock, directory, ports } = setUp([port('p1', 's1')]);
    await directory.portsOf('a', ['s1'], clock.monotonicMs() - 10_000, signal);
    await clock.advance(5_000);
    ports.splice(0, 1, port('p1', 's2'));
    const both = await directory.portsOf('a', ['s1', 's2'], clock.monotonicMs() - 10_000, signal);
    expect(both.map(({ id, deviceId }) => `${id} at ${deviceId}`)).toEqual(['p1 at s2']);
  });

  it('a port moved away from a server is taken from the younger list, without a second listing', async () => {
    const { clock, directory, ports } = setUp([port('p1', 's99')]);
    const full = names('s', 100);
    await directory.portsOf('a', full, clock.monotonicMs() - 10_000, signal);
    await clock.advance(5_000);
    ports.splice(0, 1, port('p1', 'x'));
    const both = await directory.portsOf('b', ['x', 's99'], clock.monotonicMs() - 10_000, signal);
    expect(both.map(({ id, deviceId }) => `${id} at ${deviceId}`)).toEqual(['p1 at x']);
  });

  it('PortDirectory keeps the younger list when an older list arrives late', async () => {
    const { clock, directory, hold, ports } = setUp([port('p1', 's1')]);
    const gate = hold();
    const late = directory.portsOf('a', ['s1'], clock.monotonicMs() - 10_000, signal);
    await clock.advance(1);
    ports.splice(0, 1, port('p2', 's1'));
    hold().resolve();
    const young = await directory.portsOf('b', ['s1'], Number.POSITIVE_INFINITY, signal);
    gate.resolve();
    await late;
    const now = await directory.portsOf('b', ['s1'], clock.monotonicMs() - 10_000, signal);
    expect([young, now].map((list) => list.map(({ id }) => id))).toEqual([['p2'], ['p2']]);
  });

  describe('a port event during a list', () => {
    it("a port event during a list makes PortDirectory list only the port's server again", async () => {
      const { requests, ids } = await listedWithEvents({ during: 'p1' });
      expect([requests, ids]).toEqual([[['s1', 's2'], ['s1']], ['p2']]);
    });

    it.each([{ before: 'p1' }, { during: 'p9' }])(
      'a port event makes PortDirectory list nothing again before the list, or for an unlisted port: %j',
      async (events) => {
        const { requests, directory } = await listedWithEvents(events);
        await directory.portsOf('a', ['s1', 's2'], Number.NEGATIVE_INFINITY, signal);
        expect(requests).toHaveLength(1);
      },
    );

    it('several port events during a list make PortDirectory list the server again once', async () => {
      const { requests, clock, directory, hold } = setUp([port('p1', 's1')]);
      const gates = [hold()];
      const list = directory.portsOf('a', ['s1'], clock.monotonicMs(), signal);
      for (let n = 0; n < 2; n++) {
        gates.push(hold());
        await clock.advance(1);
        directory.concerned('a', [], ['p1']);
        gates.at(n)?.resolve();
        await clock.advance(1);
      }
      expect((await list).map(({ id }) => id)).toEqual(['p1']);
      expect(requests).toEqual([['s1'], ['s1']]);
      // Now the directory knows the port's server.
      expect(directory.concerned('a', [], ['p1'])).toEqual(['s1']);
    });
  });

  it('PortDirectory forgets servers no longer selected by any OpenstackConfig', async () => {
    const { clock, requests, directory } = setUp();
    await directory.portsOf('a', ['s1', 's2'], clock.monotonicMs(), signal);
    await directory.portsOf('b', ['s2', 's3'], clock.monotonicMs(), signal);
    await directory.portsOf('a', [], clock.monotonicMs(), signal);
    requests.length = 0;
    await directory.portsOfFew(['s1', 's2', 's3'], clock.monotonicMs() - 60_000, signal);
    expect(requests).toEqual([['s1']]);
  });

  it("PortDirectory forgets a removed OpenstackConfig's servers", async () => {
    const { requests, clock, directory } = setUp();
    await directory.portsOf('a', ['s1'], clock.monotonicMs() - 10_000, signal);
    directory.leave('a');
    await directory.portsOf('b', ['s2'], clock.monotonicMs() - 10_000, signal);
    expect(requests).toEqual([['s1'], ['s2']]);
    await directory.portsOf('b', ['s1'], clock.monotonicMs() - 10_000, signal);
    expect(requests).toHaveLength(3);
  });

  it('a failed list rejects every waiting caller, and the next call lists again', async () => {
    const failing = { portsOf: async () => Promise.reject(new Error('503')) };
    const clock = createFakeClock();
    const directory = new PortDirectory({
      cloud: failing,
      clock,
      lifetime,
      recentPorts: new RecentPorts(clock),
    });
    const both = ['a', 'b'].map(async (name) =>
      directory.portsOf(name, ['s1'], clock.monotonicMs() - 10_000, signal),
    );
    for (const one of both) await expect(one).rejects.toThrow('503');
    await expect(
      directory.portsOf('a', ['s1'], clock.monotonicMs() - 10_000, signal),
    ).rejects.toThrow('503');
  });

  it('an aborted caller does not abort the list for the remaining callers', async () => {
    const { clock, directory, hold } = setUp([port('p1', 's1')]);
    const gate = hold();
    const impatient = new AbortController();
    const one = directory.portsOf('a', ['s1'], clock.monotonicMs() - 10_000, impatient.signal);
    const other = directory.portsOf('b', ['s1'], clock.monotonicMs() - 10_000, signal);
    impatient.abort(new Error('gave up'));
    await expect(one).rejects.toThrow('gave up');
    gate.resolve();
    expect(await other).toHaveLength(1);
  });
});
