import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';
import { entry, instanceId } from '../../../test/fixtures/controller-samples.ts';
import { type Answer, configured } from '../../../test/fixtures/scripted-agents.ts';
import { protocol, protocols } from '../../api/job.ts';

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

const spoken = () => fixture.agents.requests.map((request) => request.protocol);
/** Protocols from the newest to the given version. */
const downTo = (oldest: number) => protocols.filter((each) => each >= oldest).toReversed();

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
    expect(fixture.agents.requests[1]).toMatchObject({ protocol, machineId: 'machine-1' });
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

  it('NICs known to the host are copied to status.knownInterfaces', async () => {
    const known = [{ index: 3, mac: 'fa:16:3e:00:00:07', portId: 'port-7' }];
    fixture.agents.answer = (request) => ({ ...(configured(request) as object), known });
    fixture.run();
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    const { status } = await fixture.until('worker-1', (one) => one.status?.applied?.done === true);
    expect(status?.knownInterfaces).toEqual([
      { id: 3, macAddress: 'fa:16:3e:00:00:07', portId: 'port-7' },
    ]);
  });
});

describe('protocol 4', () => {
  const isolated = entry(1, { routing: 'isolated' });
  const unreadable = {
    outcome: 'refused',
    refusal: { reason: 'InvalidRequest', message: 'protocol' },
  } as const;

  /** Answers as an agent that knows protocols up to `newest`. */
  function upTo(newest: number, how: Answer = unreadable): void {
    const { answer } = fixture.agents;
    fixture.agents.answer = (request) => (request.protocol > newest ? how : answer(request));
  }

  /** Configures the object's first NIC, and then installs an older agent. */
  async function downgrade(newest: number, how?: Answer): Promise<void> {
    fixture.run();
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await fixture.untilReady('worker-1', good);
    upTo(newest, how);
  }

  it('every apply and clean-up names the NICs that may leave', async () => {
    fixture.run();
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await fixture.untilReady('worker-1', good);
    await fixture.delete('worker-1');
    await fixture.untilGone('worker-1');
    expect(fixture.agents.requests).toMatchObject([
      { protocol, mayRemove: [], mayRemoveIfGone: [] },
      { protocol, mayRemove: ['fa:16:3e:00:00:00'], mayRemoveIfGone: [] },
    ]);
  });

  it.each([
    ['refuses the request', unreadable],
    ['answers in another protocol', JSON.stringify({ protocol: 9 })],
  ] as const)(
    'older protocols are tried while no NIC can leave, if the agent %s',
    async (_, how) => {
      await downgrade(2, how);
      await fixture.apply('worker-1', { interfaces: [entry(0), entry(1)] });
      await fixture.untilReady('worker-1', good);
      expect(spoken()).toEqual([protocol, ...downTo(2)]);
      // New content tries the newest protocol first again: the agent may be newer.
      await fixture.apply('worker-1', { interfaces: [entry(0), entry(1), entry(2)] });
      await fixture.untilReady('worker-1', good);
      expect(spoken()).toEqual([protocol, ...downTo(2), ...downTo(2)]);
    },
  );

  it.each([
    ['removes a NIC', []],
    ['replaces a NIC', [entry(1)]],
  ])('an older agent gets no older protocol for an edit that %s', async (_, interfaces) => {
    await downgrade(3);
    await fixture.apply('worker-1', { interfaces });
    await fixture.untilReady('worker-1', 'False InvalidRequest');
    await fixture.pass(7_000);
    expect(new Set(spoken())).toEqual(new Set(downTo(4)));
    expect(fixture.agents.macsOn('worker-1')).toEqual(['fa:16:3e:00:00:00']);
  });

  it('an older agent gets no older protocol while the NICs of its node are unread', async () => {
    upTo(3);
    fixture.run();
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await fixture.untilReady('worker-1', 'False InvalidRequest');
    await fixture.pass(7_000);
    expect(new Set(spoken())).toEqual(new Set(downTo(4)));
  });

  it('NICs that need protocol 3 stay unchanged with an older agent, the rest is applied', async () => {
    await downgrade(2);
    const address = { address: '10.9.9.9' };
    await fixture.apply('worker-1', { interfaces: [entry(0), isolated, entry(2, address)] });
    const { status } = await fixture.untilReady('worker-1', 'False AgentTooOld');
    expect(fixture.agents.requests.at(-1)).toMatchObject({
      protocol: 2,
      interfaces: [{ index: 0 }],
      keep: ['fa:16:3e:00:00:02', 'fa:16:3e:00:00:01'],
    });
    const [first, other] = status?.interfaceStatuses ?? [];
    expect(first).toMatchObject({ status: 'Configured' });
    expect(other).toMatchObject({ status: 'Failed', reason: 'AgentTooOld' });
    expect(other?.message).toContain('routing isolated need protocol 3, the agent supports 2');
    // The agent may be upgraded at any time.
    const count = spoken().length;
    await fixture.eventually(
      () => spoken().length > count,
      () => 'not asked again',
    );
    expect(spoken()[count]).toBe(protocol);
  });
});
