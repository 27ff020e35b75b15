import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ControllerBed } from '../../test/fixtures/controller-bed.ts';
import { entry, instanceId, nicResult } from '../../test/fixtures/controller-samples.ts';
import { configured } from '../../test/fixtures/scripted-agents.ts';
import { configMaps, nodes } from '../kube/core-resources.ts';

const good = 'True AllInterfacesConfigured';
const missing = nicResult(0, { state: 'Pending', reason: 'WaitingForNIC', name: '' });
let bed: ControllerBed;

beforeEach(async () => {
  bed = await ControllerBed.start();
});

afterEach(async () => {
  await bed[Symbol.asyncDispose]();
});

/** Nodes with objects of the same name, in this order. */
async function fleet(...names: readonly string[]): Promise<void> {
  for (const name of names) {
    await bed.addNode(name, `uuid-of-${name}`);
    await bed.apply(name, { instanceId: `uuid-of-${name}`, interfaces: [entry(0)] });
  }
}

function untilPods(count: number): Promise<void> {
  return bed.eventually(
    () => bed.pods().length === count,
    () => `${bed.pods().length} Pods`,
  );
}

describe('nodes that fail', () => {
  it.each([-3, 3])('have no say in when it is tried again (clock %d h off)', async (hours) => {
    bed.agents.clockSkewMs = hours * 3_600_000;
    bed.agents.answer = () => ({ outcome: 'partial', nics: [missing] });
    bed.run();
    await fleet('worker-1');
    await bed.pass(600);
    // 5 s, 7.5 s, 11 s, 17 s … in a minute.
    expect(bed.created('jobs')).toBeGreaterThanOrEqual(4);
    expect(bed.created('jobs')).toBeLessThanOrEqual(6);
  });

  it('do not keep the others waiting when their kubelets die and nobody notices', async () => {
    bed.run({ 'max-in-flight': '2' });
    for (const name of ['dead-1', 'dead-2']) bed.agents.dead.add(name);
    await fleet('dead-1', 'dead-2');
    await untilPods(2);
    await fleet('worker-1');
    await bed.pass(1_300);
    expect(await bed.ready('worker-1')).toBe(good);
    expect(await bed.ready('dead-1')).toBe('False NotStarted');
  });

  it('do not keep the others waiting when they are edited while they are dead', async () => {
    bed.run({ 'max-in-flight': '2' });
    for (const name of ['dead-1', 'dead-2']) bed.agents.dead.add(name);
    await fleet('dead-1', 'dead-2');
    await untilPods(2);
    for (const name of ['dead-1', 'dead-2'])
      await bed.apply(name, { instanceId: `uuid-of-${name}`, interfaces: [entry(1)] });
    await bed.pass(20);
    await fleet('worker-1');
    await bed.pass(50);
    expect(await bed.ready('worker-1')).toBe(good);
  });

  it('do not keep a machine waiting that has taken the name of one that died in mid-run', async () => {
    const former = { systemUUID: instanceId, machineID: 'a'.repeat(32) };
    await bed.addNode('worker-1', instanceId);
    await bed.setNode('worker-1', former);
    bed.agents.answer = () => undefined;
    bed.run();
    await bed.apply('worker-1', { instanceId, interfaces: [entry(0)] });
    await bed.eventually(
      () => bed.agents.requests.length === 1,
      () => 'no request',
    );
    bed.agents.dead.add('worker-1');
    await bed.admin.delete(nodes, { name: 'worker-1' });
    await bed.addNode('worker-1', 'uuid-2');
    await bed.setNode('worker-1', { systemUUID: 'uuid-2', machineID: 'b'.repeat(32) });
    const mac = 'fa:16:3e:00:09:01';
    bed.agents.answer = (asked) =>
      asked.interfaces[0]?.mac === mac ? configured(asked) : undefined;
    bed.agents.dead.delete('worker-1');
    await bed.apply('worker-1', {
      instanceId: 'uuid-2',
      interfaces: [entry(0, { macAddress: mac })],
    });
    await bed.pass(60);
    expect(await bed.ready('worker-1')).toBe(good);
  });

  it('are no candidates while they are not ready, and are served as soon as they are', async () => {
    await bed.addNode('worker-1');
    await bed.setReady('worker-1', 'Unknown');
    bed.run();
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    await bed.untilReady('worker-1', 'False NodeNotReady');
    expect(bed.created('jobs')).toBe(0);
    await bed.setReady('worker-1', 'True');
    await bed.untilReady('worker-1', good);
  });

  it('hold no place while they are not ready, whatever runs on them', async () => {
    bed.run({ 'max-in-flight': '1' });
    bed.agents.answer = (request) =>
      request.nodeName === 'dead-1' ? undefined : configured(request);
    await fleet('dead-1');
    await bed.eventually(
      () => bed.agents.requests.length === 1,
      () => 'no agent',
    );
    bed.agents.dead.add('dead-1');
    await bed.setReady('dead-1', 'Unknown');
    await fleet('worker-1');
    await bed.untilReady('worker-1', good);
    // Back after a minute: what it did counts.
    bed.agents.dead.clear();
    bed.agents.answer = configured;
    await bed.setReady('dead-1', 'True');
    await bed.untilReady('dead-1', good);
    expect(bed.agents.requests.filter(({ nodeName }) => nodeName === 'dead-1')).toHaveLength(1);
  });

  it('[RW-68] hold no place when their Job is over its deadline and their Pod never ends', async () => {
    bed.run({ 'max-in-flight': '1' });
    bed.agents.answer = (request) =>
      request.nodeName === 'dead-1' ? undefined : configured(request);
    await fleet('dead-1');
    await bed.eventually(
      () => bed.agents.requests.length === 1,
      () => 'no agent',
    );
    bed.agents.dead.add('dead-1');
    await fleet('worker-1');
    await bed.clock.advance(580_000);
    await bed.pass(400);
    expect(await bed.ready('worker-1')).toBe(good);
    expect(await bed.ready('dead-1')).toBe('False DeadlineExceeded');
    expect(bed.created('jobs')).toBe(2);
  });

  it('leave room for changes however many wait for a NIC that does not come', async () => {
    bed.run({ 'max-in-flight': '2' });
    const busy = new Map<string, number>();
    bed.agents.answer = (request) => {
      if (request.nodeName === 'worker-1') return configured(request);
      const key = `${request.uid}/${request.attempt}`;
      const left = busy.get(key) ?? 40;
      busy.set(key, left - 1);
      // A retry hangs: its agent looks for the NIC for ever.
      return request.attempt === 1 ? { outcome: 'partial', nics: [missing] } : undefined;
    };
    await fleet('a', 'b', 'c');
    await bed.pass(200);
    await fleet('worker-1');
    await bed.pass(50);
    expect(await bed.ready('worker-1')).toBe(good);
  });

  it('get their ConfigMap again when somebody deletes it before the Pod has it', async () => {
    bed.run();
    bed.agents.dead.add('worker-1');
    await fleet('worker-1');
    await untilPods(1);
    const [job] = bed.jobs();
    const ref = { namespace: 'multinic-agents', name: job?.metadata.name ?? '' };
    await bed.admin.delete(configMaps, ref);
    bed.agents.dead.clear();
    await bed.untilReady('worker-1', good);
    expect(bed.created('jobs')).toBe(1);
  });

  it('that are full say so, and are tried again', async () => {
    bed.run();
    bed.agents.answer = (request) =>
      request.attempt < 3 ? { refused: 'OutOfcpu' } : configured(request);
    await fleet('worker-1');
    await bed.untilReady('worker-1', 'False Unschedulable');
    await bed.untilReady('worker-1', good);
    expect(bed.created('jobs')).toBe(3);
  });

  it('[RW-68] with an image that never comes give their place back and are tried again', async () => {
    bed.run({ 'max-in-flight': '1' });
    bed.agents.answer = (request) =>
      request.nodeName === 'dead-1' ? { waiting: 'ImagePullBackOff' } : configured(request);
    await fleet('dead-1');
    await bed.untilReady('dead-1', 'False ImagePullFailed');
    await fleet('worker-1');
    await bed.pass(1_300);
    expect(await bed.ready('worker-1')).toBe(good);
    expect(await bed.ready('dead-1')).toBe('False ImagePullFailed');
  });
});

describe('an object that is edited again and again while its node is not ready', () => {
  it('is served when the node is back, however many NICs have been wanted meanwhile', async () => {
    await bed.addNode('worker-1');
    await bed.setReady('worker-1', 'Unknown');
    bed.run();
    for (let edit = 10; edit < 24; edit++) {
      const interfaces = Array.from({ length: 10 }, (_, index) =>
        entry(index, { macAddress: `fa:16:3e:00:${edit}:0${index}` }),
      );
      await bed.apply('worker-1', { interfaces });
      await bed.untilReady('worker-1', 'False NodeNotReady');
    }
    await bed.setReady('worker-1', 'True');
    const { status } = await bed.untilReady('worker-1', good);
    expect(status?.interfaceStatuses).toHaveLength(10);
  });
});

describe('an object whose node says little', () => {
  it('is applied on a machine whose ids are longer than any id', async () => {
    await bed.addNode('worker-1');
    const [machineID, bootID] = ['m'.repeat(65), 'b'.repeat(65)];
    await bed.setNode('worker-1', { systemUUID: instanceId, machineID, bootID });
    bed.run();
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    await bed.untilReady('worker-1', good);
    expect(bed.agents.requests[0]?.machineId).toBeUndefined();
  });

  it('leaves an agent that works to its work', async () => {
    await bed.addNode('worker-1');
    bed.run();
    bed.agents.answer = () => undefined;
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    await bed.eventually(
      () => bed.agents.requests.length === 1,
      () => 'no agent',
    );
    await bed.setNode('worker-1', { systemUUID: '' });
    await bed.untilReady('worker-1', 'False NodeNotFound');
    await bed.pass(5);
    expect(bed.jobs()[0]?.metadata.deletionTimestamp).toBeUndefined();
    bed.agents.answer = configured;
    await bed.setNode('worker-1', { systemUUID: instanceId });
    await bed.untilReady('worker-1', good);
    expect(bed.created('jobs')).toBe(1);
  });

  it('stays when its Node is there and tells no systemUUID for the moment', async () => {
    await bed.addNode('worker-1');
    bed.run();
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    await bed.untilReady('worker-1', good);
    await bed.setNode('worker-1', { systemUUID: '' });
    await bed.untilReady('worker-1', 'False NodeNotFound');
    await bed.delete('worker-1');
    await bed.pass(100);
    expect(await bed.find('worker-1')).toBeDefined();
    await bed.setNode('worker-1', { systemUUID: instanceId });
    await bed.untilGone('worker-1');
    expect(bed.agents.requests.map(({ action }) => action)).toEqual(['apply', 'cleanup']);
  });
});

describe('the clock of the controller, set by hours', () => {
  it.each([-3, 3])('has no say in when an agent is sent again (%d h)', async (hours) => {
    bed.agents.answer = () => ({ outcome: 'partial', nics: [missing] });
    bed.run();
    await fleet('worker-1');
    await bed.pass(150);
    bed.wallOffsetMs = hours * 3_600_000;
    await bed.pass(600);
    expect(bed.created('jobs')).toBeGreaterThanOrEqual(4);
    expect(bed.created('jobs')).toBeLessThanOrEqual(6);
  });

  it.each([-3, 3])('has no say in when an agent should have begun (%d h)', async (hours) => {
    bed.run();
    bed.agents.dead.add('dead-1');
    await fleet('dead-1');
    await untilPods(1);
    bed.wallOffsetMs = hours * 3_600_000;
    await bed.pass(300);
    expect(await bed.ready('dead-1')).not.toBe('False NotStarted');
    await bed.pass(1_000);
    expect(await bed.ready('dead-1')).toBe('False NotStarted');
  });
});
