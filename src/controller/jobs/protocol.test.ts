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
let fixture: ControllerFixture;

beforeEach(async () => {
  fixture = await ControllerFixture.start();
  await fixture.addNode('worker-1');
});

afterEach(async () => {
  await fixture[Symbol.asyncDispose]();
});

function mounts(): readonly (string | undefined)[] {
  return fixture
    .jobs()
    .flatMap(({ spec }) => spec?.template.spec?.volumes?.map((one) => one.hostPath?.path) ?? []);
}

describe('protocol 2', () => {
  it('a request names the machine id, and the Job mounts /etc/machine-id, when the Node reports one', async () => {
    fixture.run();
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await fixture.untilReady('worker-1', good);
    expect(fixture.agents.requests[0]).not.toHaveProperty('machineId');
    expect(mounts()).not.toContain('/etc/machine-id');
    await fixture.setNode('worker-1', { systemUUID: instanceId, machineID: 'machine-1' });
    await fixture.eventually(
      () => fixture.agents.requests.length === 2,
      () => 'no request for the machine',
    );
    expect(fixture.agents.requests[1]).toMatchObject({ protocol: 2, machineId: 'machine-1' });
    expect(mounts()).toContain('/etc/machine-id');
  });

  it("after an etcd restore, the next request supersedes exactly the host's fence, with one read", async () => {
    fixture.agents.answer = (request) =>
      request.supersedes?.generation === hostFence.generation ? configured(request) : stale;
    fixture.run();
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await fixture.untilReady('worker-1', good);
    const sent = fixture.agents.requests.map(({ supersedes }) => supersedes);
    expect(sent).toEqual([undefined, hostFence]);
    const reads = fixture.api.audit.filter(
      ({ user, verb, resource }) =>
        user !== 'kubernetes-admin' && verb === 'get' && resource === 'multinicnodeconfigs',
    );
    expect(reads).toHaveLength(1);
  });

  it('no request supersedes a fence while the object cannot be read from the API server', async () => {
    fixture.agents.answer = (request) => (request.supersedes ? configured(request) : stale);
    fixture.api.faults.answer({
      verb: 'get',
      resource: 'multinicnodeconfigs.multinic.io',
      status: 503,
      times: 1e9,
    });
    fixture.run();
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await fixture.eventually(
      () => fixture.agents.requests.length > 0,
      () => 'no request',
    );
    await fixture.pass(100);
    expect(fixture.agents.requests.every(({ supersedes }) => supersedes === undefined)).toBe(true);
    fixture.api.faults.clear();
    await fixture.untilReady('worker-1', good);
  });

  it.each([
    [
      'refuses the request',
      {
        outcome: 'refused',
        refusal: { reason: 'InvalidRequest', message: 'protocol: expected 1' },
      },
    ],
    ['answers in another protocol', JSON.stringify({ protocol: 9 })],
  ] as const)('protocol 1 is used after an agent without protocol 2 %s', async (_how, answer) => {
    await fixture.setNode('worker-1', { systemUUID: instanceId, machineID: 'machine-1' });
    fixture.agents.answer = (request) => (request.protocol === 1 ? configured(request) : answer);
    fixture.run();
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await fixture.untilReady('worker-1', good);
    expect(fixture.agents.requests.map(({ protocol }) => protocol)).toEqual([2, 1]);
    expect(fixture.agents.requests[1]).not.toHaveProperty('machineId');
  });

  it('new content tries protocol 2 first again, because the agent may be newer', async () => {
    const unknown = {
      outcome: 'refused',
      refusal: { reason: 'InvalidRequest', message: '?' },
    } as const;
    fixture.agents.answer = (request) => (request.protocol === 1 ? configured(request) : unknown);
    fixture.run();
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await fixture.untilReady('worker-1', good);
    fixture.agents.answer = configured;
    await fixture.apply('worker-1', { interfaces: [entry(0), entry(1)] });
    await fixture.untilReady('worker-1', good);
    expect(fixture.agents.requests.map(({ protocol }) => protocol)).toEqual([2, 1, 2]);
  });

  it('NICs known to the host are copied to status.knownInterfaces', async () => {
    const known = [{ index: 3, mac: 'fa:16:3e:00:00:07', portId: 'port-7' }];
    fixture.agents.answer = (request) => ({ ...(configured(request) as object), known });
    fixture.run();
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    const { status } = await fixture.untilReady('worker-1', good);
    expect(status?.knownInterfaces).toEqual([
      { id: 3, macAddress: 'fa:16:3e:00:00:07', portId: 'port-7' },
    ]);
  });
});

describe('protocol 3', () => {
  const dual = { addresses: ['10.0.0.10/24', 'fd00::a/64'] };
  const isolated = entry(1, { routing: 'isolated' });

  it('protocol 3 is used when a NIC needs IPv6 or routing other than pbr', async () => {
    fixture.run();
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await fixture.untilReady('worker-1', good);
    await fixture.apply('worker-1', { interfaces: [entry(0), isolated] });
    await fixture.untilReady('worker-1', good);
    await fixture.apply('worker-1', { interfaces: [entry(0, dual)] });
    await fixture.untilReady('worker-1', good);
    expect(fixture.agents.requests.map(({ protocol }) => protocol)).toEqual([2, 3, 3]);
    expect(fixture.agents.requests[1]?.interfaces[1]).toMatchObject({ routing: 'isolated' });
    expect(fixture.agents.requests[2]?.interfaces[0]).toMatchObject(dual);
  });

  it('protocol 2 is used with an older agent: NICs that need 3 stay unchanged, the rest is applied', async () => {
    fixture.agents.answer = (request) =>
      request.protocol === 3
        ? { outcome: 'refused', refusal: { reason: 'InvalidRequest', message: 'protocol' } }
        : configured(request);
    fixture.run();
    await fixture.apply('worker-1', {
      interfaces: [entry(0), isolated, entry(2, { address: '10.9.9.9' })],
    });
    await fixture.eventually(
      () => fixture.agents.requests.length >= 2,
      () => 'not asked again',
    );
    const [, second] = fixture.agents.requests;
    expect(second).toMatchObject({
      protocol: 2,
      interfaces: [{ index: 0 }],
      keep: ['fa:16:3e:00:00:02', 'fa:16:3e:00:00:01'],
    });
    const { status } = await fixture.untilReady('worker-1', 'False AgentTooOld');
    const [first, other] = status?.interfaceStatuses ?? [];
    expect(first).toMatchObject({ status: 'Configured' });
    expect(other).toMatchObject({ status: 'Failed', reason: 'AgentTooOld' });
    expect(other?.message).toContain('routing isolated need protocol 3, the agent supports 2');
    // The agent may be upgraded at any time; protocol 1 is never used for this agent.
    await fixture.eventually(
      () => fixture.agents.requests.length >= 4,
      () => 'not asked again',
    );
    const spoken = fixture.agents.requests.map(({ protocol }) => protocol);
    expect(spoken.slice(0, 4)).toEqual([3, 2, 3, 2]);
  });
});
