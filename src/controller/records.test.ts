import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ControllerFixture } from '../../test/fixtures/controller.ts';
import { entry, instanceId, nicResult } from '../../test/fixtures/controller-samples.ts';
import { configured } from '../../test/fixtures/scripted-agents.ts';
import { jobs, nodes } from '../kube/core-resources.ts';
import { nodeConfigs } from './objects/stores.ts';

const good = 'True AllInterfacesConfigured';
const other = entry(0, { address: '10.0.0.77' });
const firstMachine = { machineID: 'm1', bootID: 'b1' };
let fixture: ControllerFixture;

beforeEach(async () => {
  fixture = await ControllerFixture.start();
});

afterEach(async () => {
  await fixture[Symbol.asyncDispose]();
});

async function configure(name = 'worker-1', machine?: object): Promise<void> {
  await fixture.addNode(name);
  if (machine) await fixture.setNode(name, { systemUUID: instanceId, ...machine });
  fixture.run();
  await fixture.apply(name, { interfaces: [entry(0)] });
  await fixture.untilReady(name, good);
}

/** Returns the address requested from the last agent. */
function onHost(): string | undefined {
  return fixture.agents.requests.at(-1)?.interfaces[0]?.addresses[0];
}

function untilRequests(count: number): Promise<void> {
  return fixture.eventually(
    () => fixture.agents.requests.length >= count,
    () => `${fixture.agents.requests.length} requests, not ${count}`,
  );
}

describe('records in status.applied', () => {
  it('content restored after a lost run with different content is applied again', async () => {
    await configure();
    fixture.agents.answer = (request) =>
      request.generation === 2 ? undefined : configured(request);
    await fixture.apply('worker-1', { interfaces: [other] });
    await untilRequests(2);
    for (const { metadata } of fixture.jobs()) {
      const ref = { namespace: 'multinic-agents', name: metadata.name };
      const newest = metadata.labels?.['multinic.io/generation'] === '2';
      if (newest) await fixture.admin.delete(jobs, ref, { propagationPolicy: 'Background' });
    }
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await fixture.eventually(
      () => fixture.agents.requests.at(-1)?.generation === 3,
      () => 'nothing was sent for the third generation',
    );
    await fixture.untilReady('worker-1', good);
    expect(onHost()).toBe('10.0.0.10/24');
  });

  it('content restored across a restart is applied again, although the Job in between is gone', async () => {
    await configure();
    await fixture.apply('worker-1', { interfaces: [other] });
    await fixture.untilReady('worker-1', good);
    await fixture.stop();
    const name = (await fixture.get('worker-1')).status?.lastJobName ?? '';
    const ref = { namespace: 'multinic-agents', name };
    await fixture.admin.delete(jobs, ref, { propagationPolicy: 'Background' });
    await fixture.pass(20);
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    fixture.run();
    await untilRequests(3);
    await fixture.untilReady('worker-1', good);
    expect(onHost()).toBe('10.0.0.10/24');
  });

  it.each([
    ['rebuilt in place', { machineID: 'machine-2', bootID: 'boot-2' }],
    ['rebooted', { machineID: 'machine-1', bootID: 'boot-2' }],
  ])('Ready is Unknown for a node that was %s, until an agent has run', async (_, now) => {
    await fixture.addNode('worker-1');
    await fixture.setNode('worker-1', {
      systemUUID: instanceId,
      machineID: 'machine-1',
      bootID: 'boot-1',
    });
    fixture.run();
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await fixture.untilReady('worker-1', good);
    fixture.agents.answer = () => undefined;
    await fixture.setNode('worker-1', { systemUUID: instanceId, ...now });
    await untilRequests(2);
    expect(await fixture.ready('worker-1')).toBe('Unknown SpecChanged');
    fixture.agents.answer = configured;
    await fixture.untilReady('worker-1', good);
  });

  it('the recorded status is shown again after a refusal ends, without a new run', async () => {
    await configure();
    const before = await fixture.get('worker-1');
    await fixture.apply('duplicate', { interfaces: [entry(0)] });
    await fixture.untilReady('worker-1', 'False DuplicateInstanceId');
    await fixture.delete('duplicate');
    await fixture.untilReady('worker-1', good);
    await fixture.setNode('worker-1', { systemUUID: '' });
    await fixture.untilReady('worker-1', 'False NodeNotFound');
    await fixture.setNode('worker-1', { systemUUID: instanceId });
    const { status } = await fixture.untilReady('worker-1', good);
    expect(status?.state).toBe('Configured');
    expect(status?.interfaceStatuses).toEqual(before.status?.interfaceStatuses);
    expect(status?.lastJobName).toBe(before.status?.lastJobName);
    expect(fixture.created('jobs')).toBe(1);
  });

  it("a recreated object ignores the old object's record, even while the old agent runs", async () => {
    await fixture.addNode('worker-1');
    fixture.run();
    fixture.agents.answer = () => undefined;
    const { metadata: before } = await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await untilRequests(1);
    const ref = { namespace: 'multinic-system', name: 'worker-1' };
    await fixture.admin.patch(nodeConfigs, ref, { metadata: { finalizers: null } });
    await fixture.delete('worker-1');
    const { metadata: now } = await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await fixture.untilReady('worker-1', 'Unknown WaitingForTurn');
    await fixture.pass(5);
    // Only the new object's run may stop the old run.
    expect(fixture.jobs()[0]?.metadata.deletionTimestamp).toBeUndefined();
    fixture.agents.answer = configured;
    await fixture.untilReady('worker-1', good);
    expect(fixture.agents.requests.map(({ uid }) => uid)).toEqual([before.uid, now.uid]);
  });

  it("the last two attempts' Jobs are kept for their logs", async () => {
    await fixture.addNode('worker-1');
    fixture.run();
    const missing = nicResult(0, { state: 'Pending', reason: 'WaitingForNIC', name: '' });
    fixture.agents.answer = () => ({ outcome: 'partial', nics: [missing] });
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await untilRequests(4);
    await fixture.pass(10);
    const attempts = fixture.jobs().map(({ metadata }) => metadata.labels?.['multinic.io/attempt']);
    expect(new Set(attempts)).toEqual(new Set(['3', '4']));
  });

  it('a record deleted while its Job is pending is written again', async () => {
    await fixture.addNode('worker-1');
    fixture.run();
    fixture.agents.dead.add('worker-1');
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await fixture.eventually(
      () => fixture.pods().length === 1,
      () => 'no Pod',
    );
    const ref = { namespace: 'multinic-system', name: 'worker-1' };
    await fixture.admin.patchStatus(nodeConfigs, ref, { status: null });
    await fixture.until('worker-1', ({ status }) => status?.applied !== undefined);
    fixture.agents.dead.clear();
    await fixture.untilReady('worker-1', good);
    expect(fixture.created('jobs')).toBe(1);
  });

  it('a node that re-registers under another name during retries causes one Job', async () => {
    await fixture.addNode('worker-1');
    fixture.run();
    const missing = nicResult(0, { state: 'Pending', reason: 'WaitingForNIC', name: '' });
    fixture.agents.answer = () => ({ outcome: 'partial', nics: [missing] });
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await untilRequests(3);
    await fixture.pass(20);
    const before = fixture.created('jobs');
    fixture.agents.answer = () => ({ waiting: 'ContainerCreating' });
    await fixture.admin.delete(nodes, { name: 'worker-1' });
    await fixture.addNode('worker-1.example.org');
    await fixture.pass(300);
    expect(fixture.created('jobs') - before).toBe(1);
  });

  it('a machine rebuilt in place is configured again', async () => {
    await configure('worker-1', firstMachine);
    await fixture.setNode('worker-1', { systemUUID: instanceId, machineID: 'm2', bootID: 'b2' });
    await untilRequests(2);
    await fixture.untilReady('worker-1', good);
    expect((await fixture.get('worker-1')).status?.applied).toMatchObject({
      machineId: 'm2',
      bootId: 'b2',
    });
  });

  it('a machine rebuilt in place is configured again although the first Job is gone', async () => {
    await configure('worker-1', firstMachine);
    const name = fixture.jobs()[0]?.metadata.name ?? '';
    const ref = { namespace: 'multinic-agents', name };
    await fixture.admin.delete(jobs, ref, { propagationPolicy: 'Background' });
    await fixture.eventually(
      () => fixture.jobs().length === 0,
      () => 'the Job stays',
    );
    fixture.agents.answer = () => undefined;
    await fixture.setNode('worker-1', { systemUUID: instanceId, machineID: 'm2', bootID: 'b2' });
    await untilRequests(2);
    // The second Job has the first Job's name, and no outcome yet.
    const { status } = await fixture.get('worker-1');
    expect(status?.applied).toMatchObject({ job: name, machineId: 'm2' });
    expect(status?.applied).not.toHaveProperty('done');
    fixture.agents.answer = configured;
    await fixture.untilReady('worker-1', good);
    expect(fixture.created('jobs')).toBe(2);
  });

  it('a rebooted node is checked once; missing machine and boot ids cause no check', async () => {
    await configure('worker-1', firstMachine);
    await fixture.setNode('worker-1', { systemUUID: instanceId, machineID: '', bootID: '' });
    await fixture.pass(100);
    expect(fixture.agents.requests).toHaveLength(1);
    await fixture.setNode('worker-1', { systemUUID: instanceId, machineID: 'm1', bootID: 'b2' });
    await untilRequests(2);
    await fixture.pass(100);
    expect(fixture.agents.requests).toHaveLength(2);
  });

  it('a Node deleted and registered again is configured again', async () => {
    await configure();
    await fixture.admin.delete(nodes, { name: 'worker-1' });
    await fixture.untilReady('worker-1', 'False NodeNotFound');
    await fixture.addNode('worker-1');
    await untilRequests(2);
    await fixture.untilReady('worker-1', good);
  });

  it.each([
    ['names no node', { nodeName: '' }],
    ['names no Job', { job: '' }],
    ['has an invalid time', { at: 'yesterday' }],
  ])('a record that %s is ignored and the object is applied again', async (_, applied) => {
    await configure();
    const ref = { namespace: 'multinic-system', name: 'worker-1' };
    await fixture.admin.patchStatus(nodeConfigs, ref, { status: { applied } });
    await untilRequests(2);
    const { status } = await fixture.untilReady('worker-1', good);
    expect(status?.applied).toMatchObject({ nodeName: 'worker-1', done: true });
  });

  it('a status written by another controller provides no record', async () => {
    await configure();
    await fixture.stop();
    const ref = { namespace: 'multinic-system', name: 'worker-1' };
    const { status } = await fixture.get('worker-1');
    const conditions = [{ type: 'Ready', status: 'True', reason: 'JobSucceeded' }];
    await fixture.admin.patchStatus(nodeConfigs, ref, { status: { ...status, conditions } });
    fixture.run({ 'take-over': 'true' });
    await untilRequests(2);
    await fixture.untilReady('worker-1', good);
  });

  it('a pending Job is removed when its node has become another machine', async () => {
    await fixture.addNode('worker-1', 'uuid-x');
    fixture.run();
    fixture.agents.dead.add('worker-1');
    await fixture.apply('worker-1', { instanceId: 'uuid-x', interfaces: [entry(0)] });
    await fixture.eventually(
      () => fixture.pods().length === 1,
      () => 'no Pod',
    );
    await fixture.setNode('worker-1', { systemUUID: 'uuid-y' });
    await fixture.untilReady('worker-1', 'False NodeNotFound');
    await fixture.eventually(
      () => fixture.jobs().every(({ metadata }) => metadata.deletionTimestamp !== undefined),
      () => 'the Job stays',
    );
    fixture.agents.dead.clear();
    await fixture.pass(20);
    expect(fixture.agents.requests).toEqual([]);
  });
});
