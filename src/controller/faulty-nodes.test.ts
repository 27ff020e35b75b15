import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ControllerFixture } from '../../test/fixtures/controller.ts';
import { entry, instanceId, nicResult } from '../../test/fixtures/controller-samples.ts';
import { configured } from '../../test/fixtures/scripted-agents.ts';
import { configMaps, nodes } from '../kube/core-resources.ts';

const good = 'True AllInterfacesConfigured';
const missing = nicResult(0, { state: 'Pending', reason: 'WaitingForNIC', name: '' });
let fixture: ControllerFixture;

beforeEach(async () => {
  fixture = await ControllerFixture.start();
});

afterEach(async () => {
  await fixture[Symbol.asyncDispose]();
});

/** Adds nodes and objects with the same names, in this order. */
async function fleet(...names: readonly string[]): Promise<void> {
  for (const name of names) {
    await fixture.addNode(name, `uuid-of-${name}`);
    await fixture.apply(name, { instanceId: `uuid-of-${name}`, interfaces: [entry(0)] });
  }
}

function untilPods(count: number): Promise<void> {
  return fixture.eventually(
    () => fixture.pods().length === count,
    () => `${fixture.pods().length} Pods`,
  );
}

describe('faulty nodes', () => {
  it.each([-3, 3])('retry delays do not depend on the node clock (%d h off)', async (hours) => {
    fixture.agents.clockSkewMs = hours * 3_600_000;
    fixture.agents.answer = () => ({ outcome: 'partial', nics: [missing] });
    fixture.run();
    await fleet('worker-1');
    await fixture.pass(600);
    // Attempts after 5 s, 7.5 s, 11 s, 17 s … within a minute.
    expect(fixture.created('jobs')).toBeGreaterThanOrEqual(4);
    expect(fixture.created('jobs')).toBeLessThanOrEqual(6);
  });

  it('nodes with a dead kubelet free their run slots and do not block healthy nodes', async () => {
    fixture.run({ 'max-in-flight': '2' });
    for (const name of ['dead-1', 'dead-2']) fixture.agents.dead.add(name);
    await fleet('dead-1', 'dead-2');
    await untilPods(2);
    await fleet('worker-1');
    await fixture.pass(1_300);
    expect(await fixture.ready('worker-1')).toBe(good);
    expect(await fixture.ready('dead-1')).toBe('False NotStarted');
  });

  it('editing objects of dead nodes does not block a healthy node', async () => {
    fixture.run({ 'max-in-flight': '2' });
    for (const name of ['dead-1', 'dead-2']) fixture.agents.dead.add(name);
    await fleet('dead-1', 'dead-2');
    await untilPods(2);
    for (const name of ['dead-1', 'dead-2'])
      await fixture.apply(name, { instanceId: `uuid-of-${name}`, interfaces: [entry(1)] });
    await fixture.pass(20);
    await fleet('worker-1');
    await fixture.pass(50);
    expect(await fixture.ready('worker-1')).toBe(good);
  });

  it('a new machine is configured under the Node name of a machine that died during a run', async () => {
    const former = { systemUUID: instanceId, machineID: 'a'.repeat(32) };
    await fixture.addNode('worker-1', instanceId);
    await fixture.setNode('worker-1', former);
    fixture.agents.answer = () => undefined;
    fixture.run();
    await fixture.apply('worker-1', { instanceId, interfaces: [entry(0)] });
    await fixture.eventually(
      () => fixture.agents.requests.length === 1,
      () => 'no request',
    );
    fixture.agents.dead.add('worker-1');
    await fixture.admin.delete(nodes, { name: 'worker-1' });
    await fixture.addNode('worker-1', 'uuid-2');
    await fixture.setNode('worker-1', { systemUUID: 'uuid-2', machineID: 'b'.repeat(32) });
    const mac = 'fa:16:3e:00:09:01';
    fixture.agents.answer = (asked) =>
      asked.interfaces[0]?.mac === mac ? configured(asked) : undefined;
    fixture.agents.dead.delete('worker-1');
    await fixture.apply('worker-1', {
      instanceId: 'uuid-2',
      interfaces: [entry(0, { macAddress: mac })],
    });
    await fixture.pass(60);
    expect(await fixture.ready('worker-1')).toBe(good);
  });

  it('a node that is not ready gets no Job until Ready is True', async () => {
    await fixture.addNode('worker-1');
    await fixture.setReady('worker-1', 'Unknown');
    fixture.run();
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await fixture.untilReady('worker-1', 'False NodeNotReady');
    expect(fixture.created('jobs')).toBe(0);
    await fixture.setReady('worker-1', 'True');
    await fixture.untilReady('worker-1', good);
  });

  it('a run on a node that is not ready uses no run slot, and its late result counts', async () => {
    fixture.run({ 'max-in-flight': '1' });
    fixture.agents.answer = (request) =>
      request.nodeName === 'dead-1' ? undefined : configured(request);
    await fleet('dead-1');
    await fixture.eventually(
      () => fixture.agents.requests.length === 1,
      () => 'no agent',
    );
    fixture.agents.dead.add('dead-1');
    await fixture.setReady('dead-1', 'Unknown');
    await fleet('worker-1');
    await fixture.untilReady('worker-1', good);
    // The node returns after a minute: its completed run counts.
    fixture.agents.dead.clear();
    fixture.agents.answer = configured;
    await fixture.setReady('dead-1', 'True');
    await fixture.untilReady('dead-1', good);
    expect(fixture.agents.requests.filter(({ nodeName }) => nodeName === 'dead-1')).toHaveLength(1);
  });

  it('[RW-68] a Job past its deadline whose Pod never ends frees its run slot', async () => {
    fixture.run({ 'max-in-flight': '1' });
    fixture.agents.answer = (request) =>
      request.nodeName === 'dead-1' ? undefined : configured(request);
    await fleet('dead-1');
    await fixture.eventually(
      () => fixture.agents.requests.length === 1,
      () => 'no agent',
    );
    fixture.agents.dead.add('dead-1');
    await fleet('worker-1');
    await fixture.clock.advance(580_000);
    await fixture.pass(400);
    expect(await fixture.ready('worker-1')).toBe(good);
    expect(await fixture.ready('dead-1')).toBe('False DeadlineExceeded');
    expect(fixture.created('jobs')).toBe(2);
  });

  it('hanging retries leave run slots free for a changed object', async () => {
    fixture.run({ 'max-in-flight': '2' });
    const busy = new Map<string, number>();
    fixture.agents.answer = (request) => {
      if (request.nodeName === 'worker-1') return configured(request);
      const key = `${request.uid}/${request.attempt}`;
      const left = busy.get(key) ?? 40;
      busy.set(key, left - 1);
      // The retry hangs: its agent waits for the NIC forever.
      return request.attempt === 1 ? { outcome: 'partial', nics: [missing] } : undefined;
    };
    await fleet('a', 'b', 'c');
    await fixture.pass(200);
    await fleet('worker-1');
    await fixture.pass(50);
    expect(await fixture.ready('worker-1')).toBe(good);
  });

  it('a ConfigMap deleted before the Pod mounts it is created again', async () => {
    fixture.run();
    fixture.agents.dead.add('worker-1');
    await fleet('worker-1');
    await untilPods(1);
    const [job] = fixture.jobs();
    const ref = { namespace: 'multinic-agents', name: job?.metadata.name ?? '' };
    await fixture.admin.delete(configMaps, ref);
    fixture.agents.dead.clear();
    await fixture.untilReady('worker-1', good);
    expect(fixture.created('jobs')).toBe(1);
  });

  it('a full node shows Unschedulable and is retried', async () => {
    fixture.run();
    fixture.agents.answer = (request) =>
      request.attempt < 3 ? { refused: 'OutOfcpu' } : configured(request);
    await fleet('worker-1');
    await fixture.untilReady('worker-1', 'False Unschedulable');
    await fixture.untilReady('worker-1', good);
    expect(fixture.created('jobs')).toBe(3);
  });

  it('[RW-68] a run with an unavailable image frees its slot and is retried', async () => {
    fixture.run({ 'max-in-flight': '1' });
    fixture.agents.answer = (request) =>
      request.nodeName === 'dead-1' ? { waiting: 'ImagePullBackOff' } : configured(request);
    await fleet('dead-1');
    await fixture.untilReady('dead-1', 'False ImagePullFailed');
    await fleet('worker-1');
    await fixture.pass(1_300);
    expect(await fixture.ready('worker-1')).toBe(good);
    expect(await fixture.ready('dead-1')).toBe('False ImagePullFailed');
  });
});

describe('an object edited repeatedly while its node is not ready', () => {
  it('an object edited repeatedly is configured with its last 10 NICs when the node is ready again', async () => {
    await fixture.addNode('worker-1');
    await fixture.setReady('worker-1', 'Unknown');
    fixture.run();
    for (let edit = 10; edit < 24; edit++) {
      const interfaces = Array.from({ length: 10 }, (_, index) =>
        entry(index, { macAddress: `fa:16:3e:00:${edit}:0${index}` }),
      );
      await fixture.apply('worker-1', { interfaces });
      await fixture.untilReady('worker-1', 'False NodeNotReady');
    }
    await fixture.setReady('worker-1', 'True');
    const { status } = await fixture.untilReady('worker-1', good);
    expect(status?.interfaceStatuses).toHaveLength(10);
  });
});

describe('a Node without ids or with oversized ids', () => {
  it('a machine id above 64 characters is ignored and the object is applied', async () => {
    await fixture.addNode('worker-1');
    const [machineID, bootID] = ['m'.repeat(65), 'b'.repeat(65)];
    await fixture.setNode('worker-1', { systemUUID: instanceId, machineID, bootID });
    fixture.run();
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await fixture.untilReady('worker-1', good);
    expect(fixture.agents.requests[0]?.machineId).toBeUndefined();
  });

  it('a running agent continues while its Node reports no systemUUID', async () => {
    await fixture.addNode('worker-1');
    fixture.run();
    fixture.agents.answer = () => undefined;
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await fixture.eventually(
      () => fixture.agents.requests.length === 1,
      () => 'no agent',
    );
    await fixture.setNode('worker-1', { systemUUID: '' });
    await fixture.untilReady('worker-1', 'False NodeNotFound');
    await fixture.pass(5);
    expect(fixture.jobs()[0]?.metadata.deletionTimestamp).toBeUndefined();
    fixture.agents.answer = configured;
    await fixture.setNode('worker-1', { systemUUID: instanceId });
    await fixture.untilReady('worker-1', good);
    expect(fixture.created('jobs')).toBe(1);
  });

  it('a deleted object waits while its Node reports no systemUUID, and its node is cleaned afterwards', async () => {
    await fixture.addNode('worker-1');
    fixture.run();
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await fixture.untilReady('worker-1', good);
    await fixture.setNode('worker-1', { systemUUID: '' });
    await fixture.untilReady('worker-1', 'False NodeNotFound');
    await fixture.delete('worker-1');
    await fixture.pass(100);
    expect(await fixture.find('worker-1')).toBeDefined();
    await fixture.setNode('worker-1', { systemUUID: instanceId });
    await fixture.untilGone('worker-1');
    expect(fixture.agents.requests.map(({ action }) => action)).toEqual(['apply', 'cleanup']);
  });
});

describe('a controller whose wall clock jumps by hours', () => {
  it.each([-3, 3])(
    "retry delays do not depend on the controller's wall clock (%d h)",
    async (hours) => {
      fixture.agents.answer = () => ({ outcome: 'partial', nics: [missing] });
      fixture.run();
      await fleet('worker-1');
      await fixture.pass(150);
      fixture.wallOffsetMs = hours * 3_600_000;
      await fixture.pass(600);
      expect(fixture.created('jobs')).toBeGreaterThanOrEqual(4);
      expect(fixture.created('jobs')).toBeLessThanOrEqual(6);
    },
  );

  it.each([-3, 3])(
    "the start deadline does not depend on the controller's wall clock (%d h)",
    async (hours) => {
      fixture.run();
      fixture.agents.dead.add('dead-1');
      await fleet('dead-1');
      await untilPods(1);
      // The controller reads the age of its new record.
      await fixture.pass(10);
      fixture.wallOffsetMs = hours * 3_600_000;
      await fixture.pass(300);
      expect(await fixture.ready('dead-1')).not.toBe('False NotStarted');
      await fixture.pass(1_000);
      expect(await fixture.ready('dead-1')).toBe('False NotStarted');
    },
  );
});

describe('[N15] a node without Ready for five minutes', () => {
  beforeEach(async () => {
    fixture.run();
    await fleet('worker-1');
    await fixture.setReady('worker-1', 'True');
    await fixture.untilReady('worker-1', good);
  });

  it('makes Ready Unknown with NodeNotReady in one write, and Ready returns with the node without an apply', async () => {
    const applies = () => fixture.agents.requests.filter(({ action }) => action === 'apply').length;
    const before = applies();
    await fixture.setReady('worker-1', 'Unknown');
    await fixture.pass(29, 10_000);
    expect(await fixture.ready('worker-1')).toBe(good);
    await fixture.pass(2, 10_000);
    const { status, metadata } = await fixture.get('worker-1');
    expect(await fixture.ready('worker-1')).toBe('Unknown NodeNotReady');
    expect(status?.interfaceStatuses?.map((nic) => nic.status)).toEqual(['Configured']);
    await fixture.pass(120, 10_000);
    expect((await fixture.get('worker-1')).metadata.resourceVersion).toBe(metadata.resourceVersion);
    await fixture.setReady('worker-1', 'True');
    await fixture.untilReady('worker-1', good);
    expect(applies()).toBe(before);
  });

  it('writes no status when the node is Ready again within five minutes', async () => {
    for (let flap = 0; flap < 3; flap++) {
      const { metadata } = await fixture.get('worker-1');
      await fixture.setReady('worker-1', 'False');
      await fixture.pass(24, 10_000);
      const after = await fixture.get('worker-1');
      expect(after.metadata.resourceVersion).toBe(metadata.resourceVersion);
      await fixture.setReady('worker-1', 'True');
      await fixture.pass(5, 1_000);
    }
    expect(await fixture.ready('worker-1')).toBe(good);
  });

  it('adds up alternating False and Unknown, and restarts the count after a missed True', async () => {
    await fixture.setReady('worker-1', 'False');
    await fixture.pass(24, 10_000);
    await fixture.setReady('worker-1', 'True');
    await fixture.setReady('worker-1', 'False');
    await fixture.pass(12, 10_000);
    expect(await fixture.ready('worker-1')).toBe(good);
    await fixture.setReady('worker-1', 'Unknown');
    await fixture.pass(20, 10_000);
    expect(await fixture.ready('worker-1')).toBe('Unknown NodeNotReady');
  });

  it('stays NodeNotReady after a restart of the controller', async () => {
    await fixture.setReady('worker-1', 'Unknown');
    await fixture.pass(32, 10_000);
    await fixture.stop();
    fixture.run();
    await fixture.pass(30, 1_000);
    expect(await fixture.ready('worker-1')).toBe('Unknown NodeNotReady');
    await fixture.setReady('worker-1', 'True');
    await fixture.untilReady('worker-1', good);
  });
});
