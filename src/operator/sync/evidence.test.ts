import { beforeEach, describe, expect, it } from 'vitest';
import type { Question } from '../../plan/observation.ts';
import { createFakeClock } from '../../time/fake-clock.ts';
import { ObservedServers } from '../observe/cloud-view.ts';
import { RecentPorts } from '../observe/recent-ports.ts';
import { FakeCloud } from '../testing/fake-cloud.ts';
import { attach, detach, serverIds } from '../testing/scene.ts';
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

async function verdict(asked: Question = question) {
  return (await read([asked])).verdicts[0]?.verdict;
}

/** The account sees the servers as they are now. */
async function see(): Promise<void> {
  await observedServers.missing(cloud, [serverId], await cloud.servers([serverId]), signal);
}

describe('a port that is missing from the list', () => {
  it('is still attached when a read by id shows it, and is returned', async () => {
    const { verdicts, found } = await read();
    expect(verdicts).toEqual([{ ...question, verdict: 'stillAttached' }]);
    expect(found.map(({ id }) => id)).toEqual(['p1']);
  });

  it.each([[''], [serverIds[1] ?? '']])(
    'is elsewhere when its device is "%s"',
    async (deviceId) => {
      cloud.ports = cloud.ports.map((port) => ({ ...port, deviceId }));
      expect(await verdict()).toBe('attachedElsewhere');
    },
  );

  it("is gone when it is 404 and Nova's record lacks its MAC", async () => {
    detach(cloud, 1);
    expect(await verdict()).toBe('portGone');
  });

  it("is unclear when it is 404 and Nova's record still has its MAC", async () => {
    cloud.hidden.add('p1');
    expect(await verdict()).toBe('unconfirmed');
  });

  it("is unclear until Neutron's event has reached Nova", async () => {
    cloud.holdNovaEvents();
    detach(cloud, 1);
    expect(await verdict()).toBe('unconfirmed');
    cloud.releaseNovaEvents();
    expect(await verdict()).toBe('portGone');
  });

  it('is unclear when the record is missing, or lacks a port that Neutron lists', async () => {
    attach(cloud, 2, 1);
    detach(cloud, 1);
    for (const how of ['missing', 'empty'] as const) {
      cloud.loseAddresses(serverId, how);
      expect(await verdict()).toBe('unconfirmed');
    }
  });

  it.each(['network:vip', 'trunk:subport', ''])(
    '[W4] does not need in the record what Nova did not plug (%s)',
    async (deviceOwner) => {
      attach(cloud, 2, 1);
      cloud.ports = cloud.ports.map((port) => (port.id === 'p2' ? { ...port, deviceOwner } : port));
      detach(cloud, 1);
      expect(await verdict()).toBe('portGone');
    },
  );

  it('does not need ports without addresses in the record, which is one of addresses', async () => {
    attach(cloud, 2, 1);
    cloud.ports = cloud.ports.map((port) => (port.id === 'p2' ? { ...port, fixedIps: [] } : port));
    detach(cloud, 1);
    expect(await verdict()).toBe('portGone');
  });

  it.each(['ERROR', 'SHELVED_OFFLOADED', 'SHUTOFF'])(
    'is judged by the record of a server in %s, too',
    async (status) => {
      cloud.vms = [{ ...server, status }];
      cloud.hidden.add('p1');
      expect(await verdict()).toBe('unconfirmed');
      cloud.ports = [];
      expect(await verdict()).toBe('portGone');
    },
  );
});

describe('a server that is 404 like its port', () => {
  it('is gone when Nova lists it as deleted', async () => {
    detach(cloud, 1);
    cloud.vms = [{ ...server, status: 'DELETED' }];
    expect(await verdict()).toBe('serverDeleted');
  });

  it('is gone when Nova still shows it, as deleted', async () => {
    detach(cloud, 1);
    const record = { ...server, status: 'DELETED', projectId: 'p', macAddresses: undefined };
    cloud.server = async () => ({ kind: 'found', value: record });
    expect(await verdict()).toBe('serverDeleted');
  });

  it('is gone for an account that saw it in its own project before', async () => {
    await see();
    detach(cloud, 1);
    cloud.vms = [];
    expect(await verdict()).toBe('serverDeleted');
  });

  it('is unclear for an account that never saw it, as one of a wrong project', async () => {
    detach(cloud, 1);
    cloud.vms = [];
    expect(await verdict()).toBe('unconfirmed');
  });

  it('is unclear for an account that saw it in another project, by a role that it may have lost', async () => {
    cloud.vms = [{ ...server, projectId: 'project-2' }];
    await see();
    cloud.hidden.add(serverId).add('p1');
    expect(await verdict()).toBe('unconfirmed');
  });
});

describe('an entry that names no port', () => {
  const asked = { ...question, portId: undefined };

  it('is judged by the port with its MAC', async () => {
    expect(await verdict(asked)).toBe('stillAttached');
    detach(cloud, 1, false);
    expect(await verdict(asked)).toBe('portGone');
    cloud.ports = [];
    expect(await verdict(asked)).toBe('portGone');
  });

  it('is not judged by the port of another network that has the same MAC', async () => {
    cloud.hidden.add('p1');
    const stranger = { networkId: 'net-x', deviceId: serverIds[1] ?? '' };
    cloud.ports = cloud.ports.flatMap((port) => [port, { ...port, ...stranger, id: 'px' }]);
    expect(await verdict(asked)).toBe('unconfirmed');
  });

  it('is unclear when the MAC is in the record and Neutron shows no port', async () => {
    cloud.hidden.add('p1');
    expect(await verdict(asked)).toBe('unconfirmed');
  });
});

describe('a read that fails', () => {
  it.each(['port', 'server', 'wasDeleted'])(
    'of %s makes the evidence incomplete',
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

  it('throws when the sync is aborted', async () => {
    const stopped = AbortSignal.abort(new Error('stopped'));
    cloud.fail('port', 'timeout');
    const witness = { cloud, recentPorts, observedServers, listed: [] };
    const reading = readEvidence(witness, [question], () => 0.5, stopped);
    await expect(reading).rejects.toThrow('stopped');
  });
});

it('several ports of one server cost one read of the server', async () => {
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
