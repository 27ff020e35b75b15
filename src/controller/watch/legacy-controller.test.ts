import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';
import { entry } from '../../../test/fixtures/controller-samples.ts';
import { findCondition } from '../../api/condition.ts';
import { jobs, pods } from '../../kube/core-resources.ts';
import { type NodeConfig, nodeConfigs } from '../objects/stores.ts';

const good = 'True AllInterfacesConfigured';
const ref = { namespace: 'multinic-system', name: 'worker-1' };
const theirJob = { namespace: 'multinic-system', name: 'multinic-agent-worker-1-g1' };
let bed: ControllerFixture;

beforeEach(async () => {
  bed = await ControllerFixture.start();
  await bed.addNode('worker-1');
  await createTheirJob();
});

afterEach(async () => {
  await bed[Symbol.asyncDispose]();
});

async function createTheirJob(): Promise<void> {
  await bed.admin.create(jobs, {
    metadata: {
      ...theirJob,
      labels: {
        'app.kubernetes.io/name': 'multinic-agent',
        'app.kubernetes.io/managed-by': 'multinic-controller',
        'multinic.io/node-name': 'worker-1',
      },
    },
    spec: {
      suspend: true,
      template: {
        spec: { restartPolicy: 'Never', containers: [{ name: 'multinic-agent', image: 'theirs' }] },
      },
    },
  });
}

function standsBack() {
  return bed.until('worker-1', ({ status }) => {
    return findCondition(status?.conditions, 'OtherControllerActive')?.status === 'True';
  });
}

describe('beside the deployed controller', () => {
  it('does nothing but say so, once, and leaves the rest of its status alone', async () => {
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    const theirs = {
      state: 'Configured',
      nodeReady: true,
      conditions: [{ type: 'Ready', status: 'True', reason: 'JobSucceeded' }],
    };
    await bed.admin.patchStatus(nodeConfigs, ref, { status: theirs });
    bed.run();
    const config = await standsBack();
    expect(config.metadata.finalizers).toBeUndefined();
    const own = expect.objectContaining({ type: 'OtherControllerActive' }) as unknown;
    expect(config.status).toEqual({ ...theirs, conditions: [...theirs.conditions, own] });
    await bed.pass(50);
    expect(bed.writes()).toEqual(['patch multinicnodeconfigs status']);
  });

  it('keeps standing back when its Jobs have expired: it may be running all the same', async () => {
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    bed.run();
    await standsBack();
    await bed.admin.delete(jobs, theirJob);
    await bed.pass(50);
    expect(bed.created('jobs')).toBe(0);
  });

  it('takes an object over when it is told to on the object, after their agent has ended', async () => {
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    bed.run();
    await standsBack();
    await bed.admin.patch(nodeConfigs, ref, {
      metadata: { annotations: { 'multinic.io/take-over': 'true' } },
    });
    await bed.untilReady('worker-1', 'Unknown WaitingForTurn');
    expect(bed.created('jobs')).toBe(0);
    await bed.admin.delete(jobs, theirJob);
    const { status } = await bed.untilReady('worker-1', good);
    expect(findCondition(status?.conditions, 'OtherControllerActive')).toBeUndefined();
  });

  it('does not wait for an agent of theirs that has ended, however long its Job is kept', async () => {
    const ended = { type: 'Complete', status: 'True' };
    await bed.admin.patchStatus(jobs, theirJob, { status: { conditions: [ended] } });
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    bed.run({ 'take-over': 'true' });
    await bed.untilReady('worker-1', good);
  });

  it('takes the cluster over when it is started with --take-over', async () => {
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    await bed.admin.delete(jobs, theirJob);
    bed.run({ 'take-over': 'true' });
    await bed.untilReady('worker-1', good);
  });

  it('does not add a finalizer to an object that it does not work for', async () => {
    bed.run();
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    await standsBack();
    await bed.delete('worker-1');
    await bed.untilGone('worker-1');
  });
});

function messageOn({ status }: NodeConfig): string | undefined {
  return findCondition(status?.conditions, 'OtherControllerActive')?.message;
}

/** Replaces all conditions, as the legacy controller does at each step of an agent run. */
async function putTheirs(state: string): Promise<void> {
  const ready = { type: 'Ready', status: 'False', reason: state };
  await bed.admin.patchStatus(nodeConfigs, ref, { status: { state, conditions: [ready] } });
  await bed.pass(50);
}

async function putThreeTimes(): Promise<void> {
  for (const state of ['Pending', 'InProgress', 'Configured']) await putTheirs(state);
}

const pod = { namespace: 'multinic-system', name: 'multinic-agent-controller-abc' };

async function startTheirs(): Promise<void> {
  const container = { name: 'controller', image: 'theirs', command: ['./multinic-controller'] };
  await bed.admin.create(pods, { metadata: pod, spec: { containers: [container] } });
}

async function stopTheirs(): Promise<void> {
  await bed.admin.delete(pods, pod, { gracePeriodSeconds: 0 });
  await bed.pass(1_000);
}

async function attach(): Promise<void> {
  await bed.apply('worker-1', { interfaces: [entry(0), entry(1)] });
}

describe('beside the deployed controller while it is idle', () => {
  const theirs = {
    state: 'Configured',
    observedGeneration: 1,
    conditions: [{ type: 'Ready', status: 'True', reason: 'JobSucceeded' }],
  };

  beforeEach(async () => {
    await bed.admin.delete(jobs, theirJob);
  });

  it('does nothing while its Pod is there, even when it is told to take over, and goes on after it', async () => {
    await startTheirs();
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    bed.run({ 'take-over': 'true' });
    const config = await standsBack();
    expect(messageOn(config)).toMatch(/Pod multinic-system\/multinic-agent-controller-abc.*scale/);
    await bed.pass(50);
    expect(bed.writes()).toEqual(['patch multinicnodeconfigs status']);
    await bed.admin.delete(pods, pod, { gracePeriodSeconds: 0 });
    await bed.untilReady('worker-1', good);
  });

  it('waits when its Pod is replaced, evicted or drained: the next one follows in a moment', async () => {
    await startTheirs();
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    bed.run({ 'take-over': 'true' });
    await standsBack();
    await bed.admin.patchStatus(pods, pod, { status: { phase: 'Failed', reason: 'Evicted' } });
    await bed.until('worker-1', (config) => messageOn(config)?.includes('has just left') ?? false);
    await bed.admin.delete(pods, pod, { gracePeriodSeconds: 0 });
    await bed.pass(300);
    await startTheirs();
    await bed.pass(700);
    expect(bed.created('jobs')).toBe(0);
    await bed.admin.delete(pods, pod, { gracePeriodSeconds: 0 });
    await bed.untilReady('worker-1', good);
  });

  it('keeps its hands off all objects while the status of one is theirs, and says what to do', async () => {
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    await bed.admin.patchStatus(nodeConfigs, ref, { status: theirs });
    await bed.apply('new', { instanceId: 'uuid-2', interfaces: [entry(1)] });
    bed.run();
    expect(messageOn(await standsBack())).toContain('multinic.io/take-over=true');
    await bed.until('new', (config) => messageOn(config) !== undefined);
    await bed.pass(50);
    expect(bed.created('jobs')).toBe(0);
  });

  it('sees one that runs where it does not look when that is started: it looks at every node first', async () => {
    bed.run();
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    await bed.untilReady('worker-1', good);
    const looked = {
      nodeReady: true,
      lastInterfaceCheck: '2026-01-12T09:00:00+09:00',
      interfaceStatuses: [{ name: 'multinic0', interfaceIndex: 0, actualState: 'Configured' }],
    };
    await bed.admin.patchStatus(nodeConfigs, ref, { status: looked });
    const config = await standsBack();
    expect(messageOn(config)).toContain('the deployed controller wrote the status of worker-1');
    await bed.apply('worker-1', { interfaces: [entry(0), entry(1)] });
    await bed.pass(50);
    expect(bed.agents.requests).toHaveLength(1);
  });

  it('keeps standing back while its Deployment has no Pod for minutes, until it is told', async () => {
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    bed.run();
    await startTheirs();
    await standsBack();
    await bed.admin.delete(pods, pod, { gracePeriodSeconds: 0 });
    await bed.pass(1_500);
    expect(bed.created('jobs')).toBe(0);
    expect(messageOn(await bed.get('worker-1'))).toContain('multinic.io/take-over=true');
    await bed.admin.patch(nodeConfigs, ref, {
      metadata: { annotations: { 'multinic.io/take-over': 'true' } },
    });
    await bed.untilReady('worker-1', good);
    await startTheirs();
    await bed.until(
      'worker-1',
      (config) => messageOn(config)?.includes('runs the deployed') ?? false,
    );
  });

  describe('[D3] reports once and writes nothing while the legacy controller writes its status', () => {
    it('with its Pod in the cluster', async () => {
      await startTheirs();
      await bed.apply('worker-1', { interfaces: [entry(0)] });
      bed.run();
      await standsBack();
      await putThreeTimes();
      expect(bed.writes()).toEqual(['patch multinicnodeconfigs status']);
    });

    it('with its Jobs alone, which come and go', async () => {
      await bed.apply('worker-1', { interfaces: [entry(0)] });
      await bed.admin.patchStatus(nodeConfigs, ref, { status: theirs });
      bed.run();
      await standsBack();
      for (let round = 0; round < 2; round++) {
        await createTheirJob();
        await bed.pass(50);
        await putThreeTimes();
        await bed.admin.delete(jobs, theirJob);
        await bed.pass(50);
      }
      expect(bed.writes()).toEqual(['patch multinicnodeconfigs status']);
    });

    it('with its Pod in the cluster, also when the spec changes', async () => {
      await startTheirs();
      await bed.apply('worker-1', { interfaces: [entry(0)] });
      bed.run();
      await standsBack();
      await putTheirs('Configured');
      await bed.apply('worker-1', { interfaces: [entry(0), entry(1)] });
      await putThreeTimes();
      expect(bed.writes()).toEqual(['patch multinicnodeconfigs status']);
    });

    it('and reports again after it took the object over and gave it back', async () => {
      await startTheirs();
      await bed.apply('worker-1', { interfaces: [entry(0)] });
      bed.run({ 'take-over': 'true' });
      await standsBack();
      await putTheirs('Configured');
      await bed.admin.delete(pods, pod, { gracePeriodSeconds: 0 });
      await bed.untilReady('worker-1', good);
      await startTheirs();
      await standsBack();
    });
  });

  describe('reports once more on an object whose status it wrote last', () => {
    it.each([
      ['when its Pod has gone', [startTheirs], [stopTheirs]],
      [
        'when its Pod came after the report and has gone',
        [],
        [startTheirs, putThreeTimes, stopTheirs],
      ],
      ['when its Pod has gone and left a change undone', [startTheirs], [attach, stopTheirs]],
      ['when its Pod has gone, and a change follows', [startTheirs], [stopTheirs, attach]],
      ['when the spec changes and no Pod of it is seen', [], [attach]],
    ])('%s', async (_, before, after) => {
      await bed.apply('worker-1', { interfaces: [entry(0)] });
      await bed.admin.patchStatus(nodeConfigs, ref, { status: theirs });
      for (const step of before) await step();
      bed.run();
      await standsBack();
      await putThreeTimes();
      for (const step of after) await step();
      await bed.pass(50);
      expect(messageOn(await bed.get('worker-1'))).toContain('multinic.io/take-over=true');
      expect(bed.writes()).toHaveLength(2);
    });
  });

  it('takes over what it is told to, and applies it again: what the other one did nobody told', async () => {
    bed.run();
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    await bed.untilReady('worker-1', good);
    await startTheirs();
    const back = await standsBack();
    expect(back.status?.applied).toBeUndefined();
    await bed.admin.delete(pods, pod, { gracePeriodSeconds: 0 });
    await bed.pass(50);
    expect(bed.created('jobs')).toBe(1);
    await bed.admin.patch(nodeConfigs, ref, {
      metadata: { annotations: { 'multinic.io/take-over': 'true' } },
    });
    await bed.eventually(
      () => bed.agents.requests.length === 2,
      () => 'nothing is applied again',
    );
    await bed.untilReady('worker-1', good);
  });

  it('lets an object go that was ours and is deleted meanwhile', async () => {
    bed.run();
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    await bed.untilReady('worker-1', good);
    await startTheirs();
    await standsBack();
    await bed.delete('worker-1');
    await bed.untilGone('worker-1');
    expect(bed.agents.requests).toHaveLength(1);
  });
});

function isUnknown({ status }: NodeConfig): boolean {
  return findCondition(status?.conditions, 'Ready')?.status === 'Unknown';
}

describe('[C6] a condition without a time that a user writes', () => {
  const byHand = { type: 'Reviewed', status: 'True', reason: 'ByHand' } as const;

  beforeEach(async () => {
    await bed.admin.delete(jobs, theirJob);
    bed.run();
    await bed.addNode('worker-2', 'uuid-2');
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    await bed.apply('worker-2', { instanceId: 'uuid-2', interfaces: [entry(1)] });
    for (const name of ['worker-1', 'worker-2']) await bed.untilReady(name, good);
  });

  it('beside ours keeps nobody from working, and no record is lost', async () => {
    const { status } = await bed.get('worker-1');
    const conditions = [...(status?.conditions ?? []), byHand];
    await bed.admin.patchStatus(nodeConfigs, ref, { status: { conditions } });
    await bed.pass(50);
    await bed.apply('worker-2', { instanceId: 'uuid-2', interfaces: [entry(1), entry(2)] });
    await bed.untilReady('worker-2', good);
    expect(await bed.ready('worker-1')).toBe(good);
    expect(bed.agents.requests).toHaveLength(3);
  });

  it('in place of a whole status keeps nobody from working', async () => {
    await bed.admin.patchStatus(nodeConfigs, ref, { status: null });
    await bed.admin.patchStatus(nodeConfigs, ref, { status: { conditions: [byHand] } });
    await bed.pass(50);
    for (const name of ['worker-1', 'worker-2']) await bed.untilReady(name, good);
  });

  it('in the form of the deployed controller is healed when it is taken back, and a changed spec is not Ready meanwhile', async () => {
    const before = await bed.get('worker-1');
    const status = {
      conditions: [{ type: 'Ready', status: 'True', reason: 'JobSucceeded' }],
      state: 'Configured',
    };
    await bed.admin.patchStatus(nodeConfigs, ref, { status });
    await standsBack();
    await bed.apply('worker-2', { instanceId: 'uuid-2', interfaces: [entry(1), entry(2)] });
    await bed.until('worker-2', isUnknown);
    const { conditions } = before.status ?? {};
    await bed.admin.patchStatus(nodeConfigs, ref, { status: { conditions } });
    await bed.pass(400);
    for (const name of ['worker-1', 'worker-2']) await bed.untilReady(name, good);
  });
});
