import { beforeEach, describe, expect, it } from 'vitest';
import type { Question } from '../../../plan/observation.ts';
import { createFakeClock } from '../../../time/fake-clock.ts';
import { ObservedServers } from '../../cloud/observe/cloud-view.ts';
import { RecentPorts } from '../../cloud/observe/recent-ports.ts';
import { FakeCloud } from '../../testing/fake-cloud.ts';
import { attach, detach, serverIds } from '../../testing/scene.ts';
import { questionsPerSync, readEvidence, type Witness } from './evidence.ts';

const { signal } = new AbortController();
const serverId = serverIds[0] ?? '';
const question: Question = { portId: 'p1', macAddress: 'fa:16:3e:00:00:01', serverId };
const server = { id: serverId, name: 'worker-1', status: 'ACTIVE', metadata: {} };
let cloud: FakeCloud;
let observedServers: ObservedServers;
let recentPorts: RecentPorts;

beforeEach(() => {
  cloud = new FakeCloud();
  cloud.vms = [server];
  observedServers = new ObservedServers(createFakeClock());
  recentPorts = new RecentPorts(createFakeClock());
  attach(cloud, 1, 1);
});

async function read(questions: readonly Question[] = [question], random = () => 0.5) {
  const listed = await cloud.portsOf([serverId]);
  const witness: Witness = { cloud, recentPorts, observedServers, listed };
  return readEvidence(witness, questions, random, signal);
}

async function verdict(entry: Question = question) {
  return (await read([entry])).verdicts[0]?.verdict;
}

/** Lets the account observe the current servers. */
async function observeServers(): Promise<void> {
  await observedServers.missing(cloud, [serverId], await cloud.servers([serverId]), signal);
}

describe('evidence for a port missing from the list', () => {
  it('a port missing from the list is stillAttached, and returned, when a read by id finds the port on the server', async () => {
    const { verdicts, found } = await read();
    expect(verdicts).toEqual([{ ...question, verdict: 'stillAttached' }]);
    expect(found.map(({ id }) => id)).toEqual(['p1']);
  });

  it.each([[''], [serverIds[1] ?? '']])(
    'a port missing from the list is attachedElsewhere when its device is "%s"',
    async (deviceId) => {
      cloud.ports = cloud.ports.map((port) => ({ ...port, deviceId }));
      expect(await verdict()).toBe('attachedElsewhere');
    },
  );

  it("a missing port is portGone when Neutron answers 404 and Nova's server record lacks the MAC", async () => {
    detach(cloud, 1);
    expect(await verdict()).toBe('portGone');
  });

  it("a missing port is unconfirmed when Neutron answers 404 and Nova's server record still has the MAC", async () => {
    cloud.hidden.add('p1');
    expect(await verdict()).toBe('unconfirmed');
  });

  it.each([
    ['portGone', 'the MAC once', 'gone'],
    ['unconfirmed', 'the MAC in two networks', 'hidden'],
  ])(
    "a missing port is %s when Nova's record has %s, and Neutron lists a second port with this MAC",
    async (expected, _, how) => {
      const [port] = cloud.ports;
      if (port) cloud.ports.push({ ...port, id: 'p9', networkId: 'net-b' });
      if (how === 'gone') detach(cloud, 1);
      else cloud.hidden.add('p1');
      expect(await verdict()).toBe(expected);
    },
  );

  it("a missing port is unconfirmed until Neutron's event has reached Nova, then portGone", async () => {
    cloud.holdNovaEvents();
    detach(cloud, 1);
    expect(await verdict()).toBe('unconfirmed');
    cloud.releaseNovaEvents();
    expect(await verdict()).toBe('portGone');
  });

  it("a missing port is unconfirmed when Nova's address record is missing, or lacks a port listed by Neutron", async () => {
    attach(cloud, 2, 1);
    detach(cloud, 1);
    for (const how of ['missing', 'empty'] as const) {
      cloud.loseAddresses(serverId, how);
      expect(await verdict()).toBe('unconfirmed');
    }
  });

  it.each(['network:vip', 'trunk:subport', ''])(
    '[W4] portGone does not need listed ports in the server record when Nova did not plug these ports (%s)',
    async (deviceOwner) => {
      attach(cloud, 2, 1);
      cloud.ports = cloud.ports.map((port) => (port.id === 'p2' ? { ...port, deviceOwner } : port));
      detach(cloud, 1);
      expect(await verdict()).toBe('portGone');
    },
  );

  it('portGone does not need listed ports without addresses in the server record, because the record lists addresses', async () => {
    attach(cloud, 2, 1);
    cloud.ports = cloud.ports.map((port) => (port.id === 'p2' ? { ...port, fixedIps: [] } : port));
    detach(cloud, 1);
    expect(await verdict()).toBe('portGone');
  });

  it.each(['ERROR', 'SHELVED_OFFLOADED', 'SHUTOFF'])(
    'the record of a server in status %s counts as evidence',
    async (status) => {
      cloud.vms = [{ ...server, status }];
      cloud.hidden.add('p1');
      expect(await verdict()).toBe('unconfirmed');
      cloud.ports = [];
      expect(await verdict()).toBe('portGone');
    },
  );
});

describe('evidence for a port and its server, both 404', () => {
  it('a 404 server is serverDeleted when Nova lists the server as deleted', async () => {
    detach(cloud, 1);
    cloud.vms = [{ ...server, status: 'DELETED' }];
    expect(await verdict()).toBe('serverDeleted');
  });

  it('a server is serverDeleted when Nova still returns the server with status DELETED', async () => {
    detach(cloud, 1);
    const record = { ...server, status: 'DELETED', projectId: 'p', macAddresses: undefined };
    cloud.server = async () => ({ kind: 'found', value: record });
    expect(await verdict()).toBe('serverDeleted');
  });

  it('a 404 server is serverDeleted for an account that has observed the server in its own project', async () => {
    await observeServers();
    detach(cloud, 1);
    cloud.vms = [];
    expect(await verdict()).toBe('serverDeleted');
  });

  it('a 404 server is unconfirmed for an account that has never observed the server, such as an account in a wrong project', async () => {
    detach(cloud, 1);
    cloud.vms = [];
    expect(await verdict()).toBe('unconfirmed');
  });

  it('a 404 server is unconfirmed when the account observed the server only in a foreign project: the role may be lost', async () => {
    cloud.vms = [{ ...server, projectId: 'project-2' }];
    await observeServers();
    cloud.hidden.add(serverId).add('p1');
    expect(await verdict()).toBe('unconfirmed');
  });
});

describe('evidence for an entry without port id', () => {
  const entry = { ...question, portId: undefined };

  it('an entry without port id gets the verdict for the port with its MAC', async () => {
    expect(await verdict(entry)).toBe('stillAttached');
    detach(cloud, 1, false);
    expect(await verdict(entry)).toBe('portGone');
    cloud.ports = [];
    expect(await verdict(entry)).toBe('portGone');
  });

  it('an entry without port id ignores a port with the same MAC in a different network', async () => {
    cloud.hidden.add('p1');
    const foreignPort = { networkId: 'net-x', deviceId: serverIds[1] ?? '' };
    cloud.ports = cloud.ports.flatMap((port) => [port, { ...port, ...foreignPort, id: 'px' }]);
    expect(await verdict(entry)).toBe('unconfirmed');
  });

  it("an entry without port id is unconfirmed when Nova's record has the MAC and Neutron lists no port", async () => {
    cloud.hidden.add('p1');
    expect(await verdict(entry)).toBe('unconfirmed');
  });
});

describe('evidence with a failing read', () => {
  it.each(['port', 'server', 'wasDeleted'])(
    'a failing %s read makes the evidence incomplete',
    async (method) => {
      detach(cloud, 1);
      if (method === 'wasDeleted') cloud.vms = [];
      expect((await read()).complete).toBe(true);
      cloud.fail(method, 'serverError');
      const { verdicts, complete } = await read();
      expect(verdicts).toMatchObject([{ verdict: 'unconfirmed' }]);
      expect(complete).toBe(false);
    },
  );

  it('readEvidence throws when the sync is aborted', async () => {
    const stopped = AbortSignal.abort(new Error('stopped'));
    cloud.fail('port', 'timeout');
    const witness = { cloud, recentPorts, observedServers, listed: [] };
    const reading = readEvidence(witness, [question], () => 0.5, stopped);
    await expect(reading).rejects.toThrow('stopped');
  });
});

it('several ports on one server cost a single server read', async () => {
  cloud.ports = [];
  await read([1, 2, 3].map((n) => ({ ...question, portId: `p${n}` })));
  expect(cloud.log.filter((call) => call.startsWith('server '))).toHaveLength(1);
});

it('a sync reads 50 ports at most, chosen at random, and reports the evidence as incomplete', async () => {
  const questions = Array.from({ length: 200 }, (_, n) => ({ ...question, portId: `p${n}` }));
  let seed = 0;
  const random = () => (seed += 0.618) % 1;
  const first = await read(questions, random);
  const second = await read(questions, random);
  expect(first.verdicts).toHaveLength(questionsPerSync);
  expect(first.complete).toBe(false);
  const ids = new Set(first.verdicts.map(({ portId }) => portId));
  expect(second.verdicts.some(({ portId }) => !ids.has(portId))).toBe(true);
});
