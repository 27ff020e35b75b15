import { describe, expect, it } from 'vitest';
import type { Port } from '../../openstack/resources.ts';
import { createFakeClock } from '../../time/fake-clock.ts';
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

/** A directory over a cloud that answers from `ports` and notes what it was asked for. */
function setUp(ports: Port[] = []) {
  const clock = createFakeClock();
  const asked: (readonly string[])[] = [];
  let release = Promise.resolve();
  const cloud = {
    async portsOf(serverIds: readonly string[]) {
      asked.push(serverIds);
      const seen = ports.filter(({ deviceId }) => serverIds.includes(deviceId));
      await release;
      return seen;
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
  return { clock, asked, directory, hold, ports };
}

function names(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, n) => `${prefix}${n}`);
}

/** Lists `s1` and `s2`, and says something of ports before and meanwhile. */
async function listed(said: { readonly before?: string; readonly during?: string }) {
  const bed = setUp([port('p1', 's1'), port('p2', 's2')]);
  const { clock, directory, hold, ports } = bed;
  if (said.before) directory.concerned('a', [], [said.before]);
  await clock.advance(1);
  const gate = hold();
  const list = directory.portsOf('a', ['s1', 's2'], clock.monotonicMs(), signal);
  await clock.advance(1);
  if (said.during) directory.concerned('a', [], [said.during]);
  ports.splice(0, 1);
  gate.resolve();
  return { ...bed, ids: (await list).map(({ id }) => id) };
}

describe('PortDirectory', () => {
  it('lists once for everybody who accepts the age', async () => {
    const { clock, asked, directory } = setUp([port('p1', 's1')]);
    const first = await directory.portsOf('a', ['s1'], clock.monotonicMs() - 10_000, signal);
    await clock.advance(10_000);
    const second = await directory.portsOf('b', ['s1'], clock.monotonicMs() - 10_000, signal);
    expect([first, second].map((list) => list.map(({ id }) => id))).toEqual([['p1'], ['p1']]);
    expect(asked).toEqual([['s1']]);
    await clock.advance(1);
    await directory.portsOf('b', ['s1'], clock.monotonicMs() - 10_000, signal);
    expect(asked).toHaveLength(2);
  });

  it('takes the oldest servers of others along where the batch has room', async () => {
    const { clock, asked, directory } = setUp();
    await directory.portsOf('b', ['old'], clock.monotonicMs() - 10_000, signal);
    await clock.advance(1);
    await directory.portsOf('c', names('c', 60), clock.monotonicMs() - 10_000, signal);
    await clock.advance(1);
    await directory.portsOf('a', names('a', 50), clock.monotonicMs() - 10_000, signal);
    expect(asked[2]).toHaveLength(100);
    expect(asked[2]).toContain('old');
    await directory.portsOf('b', ['old'], 1, signal);
    expect(asked).toHaveLength(3);
  });

  it('never asks for more batches than the caller needs', async () => {
    const { asked, clock, directory } = setUp();
    await directory.portsOf('big', names('b', 1_000), clock.monotonicMs() - 10_000, signal);
    await directory.portsOf('small', ['s1'], Number.POSITIVE_INFINITY, signal);
    expect(asked.map((ids) => ids.length)).toEqual([1_000, 100]);
  });

  it('lets callers join a list that is under way, but not one that wants it newer', async () => {
    const { asked, clock, directory, hold } = setUp();
    const gate = hold();
    const joined = [
      directory.portsOf('a', ['s1'], clock.monotonicMs() - 10_000, signal),
      directory.portsOf('b', ['s1'], clock.monotonicMs() - 10_000, signal),
      directory.portsOf('c', ['s1'], Number.POSITIVE_INFINITY, signal),
    ];
    gate.resolve();
    await Promise.all(joined);
    expect(asked).toHaveLength(2);
  });

  it('believes the younger list about a port that moved', async () => {
    const { clock, directory, ports } = setUp([port('p1', 's1')]);
    await directory.portsOf('a', ['s1'], clock.monotonicMs() - 10_000, signal);
    await clock.advance(5_000);
    ports.splice(0, 1, port('p1', 's2'));
    const both = await directory.portsOf('a', ['s1', 's2'], clock.monotonicMs() - 10_000, signal);
    expect(both.map(({ id, deviceId }) => `${id} at ${deviceId}`)).toEqual(['p1 at s2']);
  });

  it('believes the younger list about a port that moved away from a server that was not listed again', async () => {
    const { clock, directory, ports } = setUp([port('p1', 's99')]);
    const full = names('s', 100);
    await directory.portsOf('a', full, clock.monotonicMs() - 10_000, signal);
    await clock.advance(5_000);
    ports.splice(0, 1, port('p1', 'x'));
    const both = await directory.portsOf('b', ['x', 's99'], clock.monotonicMs() - 10_000, signal);
    expect(both.map(({ id, deviceId }) => `${id} at ${deviceId}`)).toEqual(['p1 at x']);
  });

  it('keeps what a younger list said when an older one comes late', async () => {
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

  describe('of a port that was spoken of while it was listed', () => {
    it('its server alone is listed again', async () => {
      const { asked, ids } = await listed({ during: 'p1' });
      expect([asked, ids]).toEqual([[['s1', 's2'], ['s1']], ['p2']]);
    });

    it.each([{ before: 'p1' }, { during: 'p9' }])('nothing is, when it was %j', async (said) => {
      const { asked, directory } = await listed(said);
      await directory.portsOf('a', ['s1', 's2'], Number.NEGATIVE_INFINITY, signal);
      expect(asked).toHaveLength(1);
    });

    it('it is listed again once, however often that happens', async () => {
      const { asked, clock, directory, hold } = setUp([port('p1', 's1')]);
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
      expect(asked).toEqual([['s1'], ['s1']]);
      // By then it is known whom that concerns.
      expect(directory.concerned('a', [], ['p1'])).toEqual(['s1']);
    });
  });

  it('forgets servers that are not selected any more', async () => {
    const { clock, asked, directory } = setUp();
    await directory.portsOf('a', ['s1', 's2'], clock.monotonicMs(), signal);
    await directory.portsOf('b', ['s2', 's3'], clock.monotonicMs(), signal);
    await directory.portsOf('a', [], clock.monotonicMs(), signal);
    asked.length = 0;
    await directory.portsOfFew(['s1', 's2', 's3'], clock.monotonicMs() - 60_000, signal);
    expect(asked).toEqual([['s1']]);
  });

  it('forgets servers that nobody looks at any more', async () => {
    const { asked, clock, directory } = setUp();
    await directory.portsOf('a', ['s1'], clock.monotonicMs() - 10_000, signal);
    directory.leave('a');
    await directory.portsOf('b', ['s2'], clock.monotonicMs() - 10_000, signal);
    expect(asked).toEqual([['s1'], ['s2']]);
    await directory.portsOf('b', ['s1'], clock.monotonicMs() - 10_000, signal);
    expect(asked).toHaveLength(3);
  });

  it('gives everybody who waits the error of a failed list, and asks again next time', async () => {
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

  it('lets one caller give up without ending the list of the others', async () => {
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
