import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';
import { entry, instanceId } from '../../../test/fixtures/controller-samples.ts';
import { type Answer, configured } from '../../../test/fixtures/scripted-agents.ts';

const good = 'True AllInterfacesConfigured';
const hostFence = { uid: 'uid-of-the-host', generation: 41 };
const stale: Answer = {
  outcome: 'refused',
  refusal: { reason: 'StaleRequest', message: 'generation 41 was applied already' },
  fence: hostFence,
};
let bed: ControllerFixture;

beforeEach(async () => {
  bed = await ControllerFixture.start();
  await bed.addNode('worker-1');
});

afterEach(async () => {
  await bed[Symbol.asyncDispose]();
});

function mounts(): readonly (string | undefined)[] {
  return bed
    .jobs()
    .flatMap(({ spec }) => spec?.template.spec?.volumes?.map((one) => one.hostPath?.path) ?? []);
}

describe('protocol 2', () => {
  it('names the machine that a request is for, and mounts its id, when the Node tells it', async () => {
    bed.run();
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    await bed.untilReady('worker-1', good);
    expect(bed.agents.requests[0]).not.toHaveProperty('machineId');
    expect(mounts()).not.toContain('/etc/machine-id');
    await bed.setNode('worker-1', { systemUUID: instanceId, machineID: 'machine-1' });
    await bed.eventually(
      () => bed.agents.requests.length === 2,
      () => 'no request for the machine',
    );
    expect(bed.agents.requests[1]).toMatchObject({ protocol: 2, machineId: 'machine-1' });
    expect(mounts()).toContain('/etc/machine-id');
  });

  it('supersedes exactly what the host has seen, once, when etcd was restored', async () => {
    bed.agents.answer = (request) =>
      request.supersedes?.generation === hostFence.generation ? configured(request) : stale;
    bed.run();
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    await bed.untilReady('worker-1', good);
    const sent = bed.agents.requests.map(({ supersedes }) => supersedes);
    expect(sent).toEqual([undefined, hostFence]);
    const reads = bed.api.audit.filter(
      ({ user, verb, resource }) =>
        user !== 'kubernetes-admin' && verb === 'get' && resource === 'multinicnodeconfigs',
    );
    expect(reads).toHaveLength(1);
  });

  it('supersedes nothing while it cannot read the object again', async () => {
    bed.agents.answer = (request) => (request.supersedes ? configured(request) : stale);
    bed.api.faults.answer({
      verb: 'get',
      resource: 'multinicnodeconfigs.multinic.io',
      status: 503,
      times: 1e9,
    });
    bed.run();
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    await bed.eventually(
      () => bed.agents.requests.length > 0,
      () => 'no request',
    );
    await bed.pass(100);
    expect(bed.agents.requests.every(({ supersedes }) => supersedes === undefined)).toBe(true);
    bed.api.faults.clear();
    await bed.untilReady('worker-1', good);
  });

  it.each([
    [
      'says so',
      {
        outcome: 'refused',
        refusal: { reason: 'InvalidRequest', message: 'protocol: expected 1' },
      },
    ],
    ['answers in its own', JSON.stringify({ protocol: 9 })],
  ] as const)('is left for 1 with an agent that knows no other and %s', async (_how, answer) => {
    await bed.setNode('worker-1', { systemUUID: instanceId, machineID: 'machine-1' });
    bed.agents.answer = (request) => (request.protocol === 1 ? configured(request) : answer);
    bed.run();
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    await bed.untilReady('worker-1', good);
    expect(bed.agents.requests.map(({ protocol }) => protocol)).toEqual([2, 1]);
    expect(bed.agents.requests[1]).not.toHaveProperty('machineId');
  });

  it('is tried first again for what is asked for anew: the agent may have been replaced', async () => {
    const unknown = {
      outcome: 'refused',
      refusal: { reason: 'InvalidRequest', message: '?' },
    } as const;
    bed.agents.answer = (request) => (request.protocol === 1 ? configured(request) : unknown);
    bed.run();
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    await bed.untilReady('worker-1', good);
    bed.agents.answer = configured;
    await bed.apply('worker-1', { interfaces: [entry(0), entry(1)] });
    await bed.untilReady('worker-1', good);
    expect(bed.agents.requests.map(({ protocol }) => protocol)).toEqual([2, 1, 2]);
  });

  it('hands on which NICs the host knows as ours', async () => {
    const known = [{ index: 3, mac: 'fa:16:3e:00:00:07', portId: 'port-7' }];
    bed.agents.answer = (request) => ({ ...(configured(request) as object), known });
    bed.run();
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    const { status } = await bed.untilReady('worker-1', good);
    expect(status?.knownInterfaces).toEqual([
      { id: 3, macAddress: 'fa:16:3e:00:00:07', portId: 'port-7' },
    ]);
  });
});

describe('protocol 3', () => {
  const dual = { addresses: ['10.0.0.10/24', 'fd00::a/64'] };
  const isolated = entry(1, { routing: 'isolated' });

  it('is spoken as soon as a NIC needs it: IPv6, or other routing than pbr', async () => {
    bed.run();
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    await bed.untilReady('worker-1', good);
    await bed.apply('worker-1', { interfaces: [entry(0), isolated] });
    await bed.untilReady('worker-1', good);
    await bed.apply('worker-1', { interfaces: [entry(0, dual)] });
    await bed.untilReady('worker-1', good);
    expect(bed.agents.requests.map(({ protocol }) => protocol)).toEqual([2, 3, 3]);
    expect(bed.agents.requests[1]?.interfaces[1]).toMatchObject({ routing: 'isolated' });
    expect(bed.agents.requests[2]?.interfaces[0]).toMatchObject(dual);
  });

  it('is left for 2 with an agent that knows no 3: what needs it stays as it is, the rest is done', async () => {
    bed.agents.answer = (request) =>
      request.protocol === 3
        ? { outcome: 'refused', refusal: { reason: 'InvalidRequest', message: 'protocol' } }
        : configured(request);
    bed.run();
    await bed.apply('worker-1', {
      interfaces: [entry(0), isolated, entry(2, { address: '10.9.9.9' })],
    });
    await bed.eventually(
      () => bed.agents.requests.length >= 2,
      () => 'not asked again',
    );
    const [, second] = bed.agents.requests;
    expect(second).toMatchObject({
      protocol: 2,
      interfaces: [{ index: 0 }],
      keep: ['fa:16:3e:00:00:02', 'fa:16:3e:00:00:01'],
    });
    const { status } = await bed.untilReady('worker-1', 'False AgentTooOld');
    const [first, other] = status?.interfaceStatuses ?? [];
    expect(first).toMatchObject({ status: 'Configured' });
    expect(other).toMatchObject({ status: 'Failed', reason: 'AgentTooOld' });
    expect(other?.message).toContain('routing isolated need protocol 3, the agent knows 2');
    // The agent may be replaced at any time, and never loses what 2 has over 1.
    await bed.eventually(
      () => bed.agents.requests.length >= 4,
      () => 'not asked again',
    );
    const spoken = bed.agents.requests.map(({ protocol }) => protocol);
    expect(spoken.slice(0, 4)).toEqual([3, 2, 3, 2]);
  });
});
