import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ControllerFixture } from '../../test/fixtures/controller.ts';
import { entry, instanceId, nicResult } from '../../test/fixtures/controller-samples.ts';
import { configured } from '../../test/fixtures/scripted-agents.ts';
import { jobs, nodes } from '../kube/core-resources.ts';
import { nodeConfigs } from './objects/stores.ts';

const good = 'True AllInterfacesConfigured';
const other = entry(0, { address: '10.0.0.77' });
const firstMachine = { machineID: 'm1', bootID: 'b1' };
let bed: ControllerFixture;

beforeEach(async () => {
  bed = await ControllerFixture.start();
});

afterEach(async () => {
  await bed[Symbol.asyncDispose]();
});

async function configure(name = 'worker-1', machine?: object): Promise<void> {
  await bed.addNode(name);
  if (machine) await bed.setNode(name, { systemUUID: instanceId, ...machine });
  bed.run();
  await bed.apply(name, { interfaces: [entry(0)] });
  await bed.untilReady(name, good);
}

/** The address that the last agent was told to configure. */
function onHost(): string | undefined {
  return bed.agents.requests.at(-1)?.interfaces[0]?.addresses[0];
}

function untilRequests(count: number): Promise<void> {
  return bed.eventually(
    () => bed.agents.requests.length >= count,
    () => `${bed.agents.requests.length} requests, not ${count}`,
  );
}

describe('what was done', () => {
  it('is done again for content that comes back after other content, whatever became of that', async () => {
    await configure();
    bed.agents.answer = (request) => (request.generation === 2 ? undefined : configured(request));
    await bed.apply('worker-1', { interfaces: [other] });
    await untilRequests(2);
    for (const { metadata } of bed.jobs()) {
      const ref = { namespace: 'multinic-agents', name: metadata.name };
      const newest = metadata.labels?.['multinic.io/generation'] === '2';
      if (newest) await bed.admin.delete(jobs, ref, { propagationPolicy: 'Background' });
    }
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    await bed.eventually(
      () => bed.agents.requests.at(-1)?.generation === 3,
      () => 'nothing was sent for the third generation',
    );
    await bed.untilReady('worker-1', good);
    expect(onHost()).toBe('10.0.0.10/24');
  });

  it('outlives Jobs: content that comes back over a restart is applied again', async () => {
    await configure();
    await bed.apply('worker-1', { interfaces: [other] });
    await bed.untilReady('worker-1', good);
    await bed.stop();
    const name = (await bed.get('worker-1')).status?.lastJobName ?? '';
    const ref = { namespace: 'multinic-agents', name };
    await bed.admin.delete(jobs, ref, { propagationPolicy: 'Background' });
    await bed.pass(20);
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    bed.run();
    await untilRequests(3);
    await bed.untilReady('worker-1', good);
    expect(onHost()).toBe('10.0.0.10/24');
  });

  it.each([
    ['rebuilt in place', { machineID: 'machine-2', bootID: 'boot-2' }],
    ['rebooted', { machineID: 'machine-1', bootID: 'boot-2' }],
  ])(
    'says nothing of a node that was %s: Ready is Unknown until an agent was there',
    async (_, now) => {
      await bed.addNode('worker-1');
      await bed.setNode('worker-1', {
        systemUUID: instanceId,
        machineID: 'machine-1',
        bootID: 'boot-1',
      });
      bed.run();
      await bed.apply('worker-1', { interfaces: [entry(0)] });
      await bed.untilReady('worker-1', good);
      bed.agents.answer = () => undefined;
      await bed.setNode('worker-1', { systemUUID: instanceId, ...now });
      await untilRequests(2);
      expect(await bed.ready('worker-1')).toBe('Unknown SpecChanged');
      bed.agents.answer = configured;
      await bed.untilReady('worker-1', good);
    },
  );

  it('is told again when what kept agents away is over, without another one', async () => {
    await configure();
    const before = await bed.get('worker-1');
    await bed.apply('duplicate', { interfaces: [entry(0)] });
    await bed.untilReady('worker-1', 'False DuplicateInstanceId');
    await bed.delete('duplicate');
    await bed.untilReady('worker-1', good);
    await bed.setNode('worker-1', { systemUUID: '' });
    await bed.untilReady('worker-1', 'False NodeNotFound');
    await bed.setNode('worker-1', { systemUUID: instanceId });
    const { status } = await bed.untilReady('worker-1', good);
    expect(status?.state).toBe('Configured');
    expect(status?.interfaceStatuses).toEqual(before.status?.interfaceStatuses);
    expect(status?.lastJobName).toBe(before.status?.lastJobName);
    expect(bed.created('jobs')).toBe(1);
  });

  it('is nothing for an object that is made anew under the same name, also while an agent of the old one works', async () => {
    await bed.addNode('worker-1');
    bed.run();
    bed.agents.answer = () => undefined;
    const { metadata: before } = await bed.apply('worker-1', { interfaces: [entry(0)] });
    await untilRequests(1);
    const ref = { namespace: 'multinic-system', name: 'worker-1' };
    await bed.admin.patch(nodeConfigs, ref, { metadata: { finalizers: null } });
    await bed.delete('worker-1');
    const { metadata: now } = await bed.apply('worker-1', { interfaces: [entry(0)] });
    await bed.untilReady('worker-1', 'Unknown WaitingForTurn');
    await bed.pass(5);
    // Told to stop only by what comes after it.
    expect(bed.jobs()[0]?.metadata.deletionTimestamp).toBeUndefined();
    bed.agents.answer = configured;
    await bed.untilReady('worker-1', good);
    expect(bed.agents.requests.map(({ uid }) => uid)).toEqual([before.uid, now.uid]);
  });

  it('can be read in the log of the last attempt until the next one has ended', async () => {
    await bed.addNode('worker-1');
    bed.run();
    const missing = nicResult(0, { state: 'Pending', reason: 'WaitingForNIC', name: '' });
    bed.agents.answer = () => ({ outcome: 'partial', nics: [missing] });
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    await untilRequests(4);
    await bed.pass(10);
    const attempts = bed.jobs().map(({ metadata }) => metadata.labels?.['multinic.io/attempt']);
    expect(new Set(attempts)).toEqual(new Set(['3', '4']));
  });

  it('is recorded again when somebody takes the record away from a Job that has not begun', async () => {
    await bed.addNode('worker-1');
    bed.run();
    bed.agents.dead.add('worker-1');
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    await bed.eventually(
      () => bed.pods().length === 1,
      () => 'no Pod',
    );
    const ref = { namespace: 'multinic-system', name: 'worker-1' };
    await bed.admin.patchStatus(nodeConfigs, ref, { status: null });
    await bed.until('worker-1', ({ status }) => status?.applied !== undefined);
    bed.agents.dead.clear();
    await bed.untilReady('worker-1', good);
    expect(bed.created('jobs')).toBe(1);
  });

  it('starts one Job, no storm, when a node registers under another name in the middle of retries', async () => {
    await bed.addNode('worker-1');
    bed.run();
    const missing = nicResult(0, { state: 'Pending', reason: 'WaitingForNIC', name: '' });
    bed.agents.answer = () => ({ outcome: 'partial', nics: [missing] });
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    await untilRequests(3);
    await bed.pass(20);
    const before = bed.created('jobs');
    bed.agents.answer = () => ({ waiting: 'ContainerCreating' });
    await bed.admin.delete(nodes, { name: 'worker-1' });
    await bed.addNode('worker-1.example.org');
    await bed.pass(300);
    expect(bed.created('jobs') - before).toBe(1);
  });

  it('is done again on a machine that was rebuilt in place', async () => {
    await configure('worker-1', firstMachine);
    await bed.setNode('worker-1', { systemUUID: instanceId, machineID: 'm2', bootID: 'b2' });
    await untilRequests(2);
    await bed.untilReady('worker-1', good);
    expect((await bed.get('worker-1')).status?.applied).toMatchObject({
      machineId: 'm2',
      bootId: 'b2',
    });
  });

  it('is done again on a machine that was rebuilt in place after the Job of the one before had gone', async () => {
    await configure('worker-1', firstMachine);
    const name = bed.jobs()[0]?.metadata.name ?? '';
    const ref = { namespace: 'multinic-agents', name };
    await bed.admin.delete(jobs, ref, { propagationPolicy: 'Background' });
    await bed.eventually(
      () => bed.jobs().length === 0,
      () => 'the Job stays',
    );
    bed.agents.answer = () => undefined;
    await bed.setNode('worker-1', { systemUUID: instanceId, machineID: 'm2', bootID: 'b2' });
    await untilRequests(2);
    // Of the same name as the one before, and no end of it is known.
    const { status } = await bed.get('worker-1');
    expect(status?.applied).toMatchObject({ job: name, machineId: 'm2' });
    expect(status?.applied).not.toHaveProperty('done');
    bed.agents.answer = configured;
    await bed.untilReady('worker-1', good);
    expect(bed.created('jobs')).toBe(2);
  });

  it('is looked at again after a reboot, once, and not because a node says less for a while', async () => {
    await configure('worker-1', firstMachine);
    await bed.setNode('worker-1', { systemUUID: instanceId, machineID: '', bootID: '' });
    await bed.pass(100);
    expect(bed.agents.requests).toHaveLength(1);
    await bed.setNode('worker-1', { systemUUID: instanceId, machineID: 'm1', bootID: 'b2' });
    await untilRequests(2);
    await bed.pass(100);
    expect(bed.agents.requests).toHaveLength(2);
  });

  it('is done again on a Node that was deleted and registered anew', async () => {
    await configure();
    await bed.admin.delete(nodes, { name: 'worker-1' });
    await bed.untilReady('worker-1', 'False NodeNotFound');
    await bed.addNode('worker-1');
    await untilRequests(2);
    await bed.untilReady('worker-1', good);
  });

  it.each([
    ['names no node', { nodeName: '' }],
    ['names no Job', { job: '' }],
    ['is of another time', { at: 'yesterday' }],
  ])('is nothing when its record %s: it is done again', async (_, applied) => {
    await configure();
    const ref = { namespace: 'multinic-system', name: 'worker-1' };
    await bed.admin.patchStatus(nodeConfigs, ref, { status: { applied } });
    await untilRequests(2);
    const { status } = await bed.untilReady('worker-1', good);
    expect(status?.applied).toMatchObject({ nodeName: 'worker-1', done: true });
  });

  it('is never taken from a status that another controller wrote', async () => {
    await configure();
    await bed.stop();
    const ref = { namespace: 'multinic-system', name: 'worker-1' };
    const { status } = await bed.get('worker-1');
    const conditions = [{ type: 'Ready', status: 'True', reason: 'JobSucceeded' }];
    await bed.admin.patchStatus(nodeConfigs, ref, { status: { ...status, conditions } });
    bed.run({ 'take-over': 'true' });
    await untilRequests(2);
    await bed.untilReady('worker-1', good);
  });

  it('takes a Job back that waits on a node which has become another machine', async () => {
    await bed.addNode('worker-1', 'uuid-x');
    bed.run();
    bed.agents.dead.add('worker-1');
    await bed.apply('worker-1', { instanceId: 'uuid-x', interfaces: [entry(0)] });
    await bed.eventually(
      () => bed.pods().length === 1,
      () => 'no Pod',
    );
    await bed.setNode('worker-1', { systemUUID: 'uuid-y' });
    await bed.untilReady('worker-1', 'False NodeNotFound');
    await bed.eventually(
      () => bed.jobs().every(({ metadata }) => metadata.deletionTimestamp !== undefined),
      () => 'the Job stays',
    );
    bed.agents.dead.clear();
    await bed.pass(20);
    expect(bed.agents.requests).toEqual([]);
  });
});
