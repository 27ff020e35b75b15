import { beforeEach, describe, expect, it } from 'vitest';
import { FakeCloud } from '../testing/fake-cloud.ts';
import { attach, detach, serverIds } from '../testing/scene.ts';
import { questionsPerSync, readEvidence } from './evidence.ts';

const { signal } = new AbortController();
const serverId = serverIds[0] ?? '';
const question = { portId: 'p1', serverId, subnetId: 'sub-a' };
let cloud: FakeCloud;

beforeEach(() => {
  cloud = new FakeCloud();
  cloud.vms = [{ id: serverId, name: 'worker-1', status: 'ACTIVE', metadata: {} }];
  cloud.subnets = [
    {
      id: 'sub-a',
      name: '',
      cidr: '10.0.10.0/24',
      networkId: 'net-a',
      ipVersion: 4,
      gatewayIp: undefined,
      hostRoutes: [],
      projectId: '',
    },
  ];
  attach(cloud, 1, 1);
});

async function verdict(
  asked: { portId: string; serverId: string; subnetId: string | undefined } = question,
) {
  const { verdicts } = await readEvidence(cloud, [asked], () => 0.5, signal);
  return verdicts[0]?.verdict;
}

describe('a port that is missing from the list', () => {
  it('is still attached when reading it says so, and is handed back', async () => {
    const { verdicts, found } = await readEvidence(cloud, [question], () => 0.5, signal);
    expect(verdicts).toEqual([{ portId: 'p1', serverId, verdict: 'stillAttached' }]);
    expect(found.map(({ id }) => id)).toEqual(['p1']);
  });

  it.each([[''], [serverIds[1] ?? '']])(
    'is elsewhere when its device is "%s"',
    async (deviceId) => {
      cloud.ports = cloud.ports.map((port) => ({ ...port, deviceId }));
      expect(await verdict()).toBe('attachedElsewhere');
    },
  );

  it('is gone when it is 404 and Nova has no such NIC', async () => {
    detach(cloud, 1);
    expect(await verdict()).toBe('portGone');
  });

  it('is unclear when Nova still has its NIC', async () => {
    cloud.ghosts.add('p1');
    expect(await verdict()).toBe('unconfirmed');
  });

  it('is gone with its server when that is DELETED, or 404 while the account still sees the subnet', async () => {
    detach(cloud, 1);
    cloud.vms = cloud.vms.map((server) => ({ ...server, status: 'DELETED' }));
    expect(await verdict()).toBe('serverDeleted');
    cloud.vms = [];
    expect(await verdict()).toBe('serverDeleted');
  });

  it('is unclear when nothing of the project can be seen', async () => {
    detach(cloud, 1);
    cloud.vms = [];
    cloud.subnets = [];
    expect(await verdict()).toBe('unconfirmed');
    expect(await verdict({ ...question, subnetId: undefined })).toBe('unconfirmed');
  });

  it.each(['port', 'interfacesOf', 'server', 'subnet'])(
    'is unclear when %s fails',
    async (method) => {
      detach(cloud, 1);
      if (method !== 'interfacesOf') cloud.vms = [];
      cloud.fail(method, 'serverError');
      expect(await verdict()).toBe('unconfirmed');
    },
  );
});

it('reads what several ports have in common once', async () => {
  cloud.ports = [];
  const questions = [1, 2, 3].map((n) => ({ ...question, portId: `p${n}` }));
  await readEvidence(cloud, questions, () => 0.5, signal);
  expect(cloud.log.filter((call) => call.startsWith('interfacesOf'))).toHaveLength(1);
});

it('reads a bounded number of ports, not always the same', async () => {
  const questions = Array.from({ length: 200 }, (_, n) => ({ ...question, portId: `p${n}` }));
  let seed = 0;
  const random = () => (seed += 0.618) % 1;
  const first = await readEvidence(cloud, questions, random, signal);
  const second = await readEvidence(cloud, questions, random, signal);
  expect(first.verdicts).toHaveLength(questionsPerSync);
  const ids = new Set(first.verdicts.map(({ portId }) => portId));
  expect(second.verdicts.some(({ portId }) => !ids.has(portId))).toBe(true);
});

it('ends when the sync is ended', async () => {
  const stopped = AbortSignal.abort(new Error('stopped'));
  cloud.fail('port', 'timeout');
  await expect(readEvidence(cloud, [question], () => 0.5, stopped)).rejects.toThrow('stopped');
});
