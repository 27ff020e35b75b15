import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';
import { entry } from '../../../test/fixtures/controller-samples.ts';
import { findCondition } from '../../api/condition.ts';
import { jobs, pods } from '../../kube/core-resources.ts';
import { type NodeConfig, nodeConfigs } from '../objects/stores.ts';

const good = 'True AllInterfacesConfigured';
const ref = { namespace: 'multinic-system', name: 'worker-1' };
const theirJob = { namespace: 'multinic-system', name: 'multinic-agent-worker-1-g1' };
let fixture: ControllerFixture;

beforeEach(async () => {
  fixture = await ControllerFixture.start();
  await fixture.addNode('worker-1');
  await createTheirJob();
});

afterEach(async () => {
  await fixture[Symbol.asyncDispose]();
});

async function createTheirJob(): Promise<void> {
  await fixture.admin.create(jobs, {
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

function untilYielding() {
  return fixture.until('worker-1', ({ status }) => {
    return findCondition(status?.conditions, 'OtherControllerActive')?.status === 'True';
  });
}

describe('next to the legacy controller', () => {
  it('the controller writes only OtherControllerActive, once, and leaves the rest of the status', async () => {
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    const theirs = {
      state: 'Configured',
      nodeReady: true,
      conditions: [{ type: 'Ready', status: 'True', reason: 'JobSucceeded' }],
    };
    await fixture.admin.patchStatus(nodeConfigs, ref, { status: theirs });
    fixture.run();
    const config = await untilYielding();
    expect(config.metadata.finalizers).toBeUndefined();
    const own = expect.objectContaining({ type: 'OtherControllerActive' }) as unknown;
    expect(config.status).toEqual({ ...theirs, conditions: [...theirs.conditions, own] });
    await fixture.pass(50);
    expect(fixture.writes()).toEqual(['patch multinicnodeconfigs status']);
  });

  it('the controller keeps yielding after the legacy Jobs have expired', async () => {
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    fixture.run();
    await untilYielding();
    await fixture.admin.delete(jobs, theirJob);
    await fixture.pass(50);
    expect(fixture.created('jobs')).toBe(0);
  });

  it('an object annotated with take-over is applied after the legacy agent has ended', async () => {
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    fixture.run();
    await untilYielding();
    await fixture.admin.patch(nodeConfigs, ref, {
      metadata: { annotations: { 'multinic.io/take-over': 'true' } },
    });
    await fixture.untilReady('worker-1', 'Unknown WaitingForTurn');
    expect(fixture.created('jobs')).toBe(0);
    await fixture.admin.delete(jobs, theirJob);
    const { status } = await fixture.untilReady('worker-1', good);
    expect(findCondition(status?.conditions, 'OtherControllerActive')).toBeUndefined();
  });

  it('a finished legacy Job does not delay a take-over', async () => {
    const ended = { type: 'Complete', status: 'True' };
    await fixture.admin.patchStatus(jobs, theirJob, { status: { conditions: [ended] } });
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    fixture.run({ 'take-over': 'true' });
    await fixture.untilReady('worker-1', good);
  });

  it('--take-over takes the whole cluster over', async () => {
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await fixture.admin.delete(jobs, theirJob);
    fixture.run({ 'take-over': 'true' });
    await fixture.untilReady('worker-1', good);
  });

  it('no finalizer is added to an object owned by the legacy controller', async () => {
    fixture.run();
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await untilYielding();
    await fixture.delete('worker-1');
    await fixture.untilGone('worker-1');
  });
});

function messageOn({ status }: NodeConfig): string | undefined {
  return findCondition(status?.conditions, 'OtherControllerActive')?.message;
}

/** Replaces all conditions, as the legacy controller does at each step of an agent run. */
async function putTheirs(state: string): Promise<void> {
  const ready = { type: 'Ready', status: 'False', reason: state };
  await fixture.admin.patchStatus(nodeConfigs, ref, { status: { state, conditions: [ready] } });
  await fixture.pass(50);
}

async function putThreeTimes(): Promise<void> {
  for (const state of ['Pending', 'InProgress', 'Configured']) await putTheirs(state);
}

const pod = { namespace: 'multinic-system', name: 'multinic-agent-controller-abc' };

async function startTheirs(): Promise<void> {
  const container = { name: 'controller', image: 'theirs', command: ['./multinic-controller'] };
  await fixture.admin.create(pods, { metadata: pod, spec: { containers: [container] } });
}

async function stopTheirs(): Promise<void> {
  await fixture.admin.delete(pods, pod, { gracePeriodSeconds: 0 });
  await fixture.pass(1_000);
}

async function attach(): Promise<void> {
  await fixture.apply('worker-1', { interfaces: [entry(0), entry(1)] });
}

describe('next to an idle legacy controller', () => {
  const theirs = {
    state: 'Configured',
    observedGeneration: 1,
    conditions: [{ type: 'Ready', status: 'True', reason: 'JobSucceeded' }],
  };

  beforeEach(async () => {
    await fixture.admin.delete(jobs, theirJob);
  });

  it('the controller yields while a legacy Pod exists, even with --take-over, and continues afterwards', async () => {
    await startTheirs();
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    fixture.run({ 'take-over': 'true' });
    const config = await untilYielding();
    expect(messageOn(config)).toMatch(/Pod multinic-system\/multinic-agent-controller-abc.*scale/);
    await fixture.pass(50);
    expect(fixture.writes()).toEqual(['patch multinicnodeconfigs status']);
    await fixture.admin.delete(pods, pod, { gracePeriodSeconds: 0 });
    await fixture.untilReady('worker-1', good);
  });

  it('the controller waits a minute when a legacy Pod is evicted, drained or replaced', async () => {
    await startTheirs();
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    fixture.run({ 'take-over': 'true' });
    await untilYielding();
    await fixture.admin.patchStatus(pods, pod, { status: { phase: 'Failed', reason: 'Evicted' } });
    await fixture.until(
      'worker-1',
      (config) => messageOn(config)?.includes('has just ended') ?? false,
    );
    await fixture.admin.delete(pods, pod, { gracePeriodSeconds: 0 });
    await fixture.pass(300);
    await startTheirs();
    await fixture.pass(700);
    expect(fixture.created('jobs')).toBe(0);
    await fixture.admin.delete(pods, pod, { gracePeriodSeconds: 0 });
    await fixture.untilReady('worker-1', good);
  });

  it('one object with a legacy status blocks all objects, with a message how to take over', async () => {
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await fixture.admin.patchStatus(nodeConfigs, ref, { status: theirs });
    await fixture.apply('new', { instanceId: 'uuid-2', interfaces: [entry(1)] });
    fixture.run();
    expect(messageOn(await untilYielding())).toContain('multinic.io/take-over=true');
    await fixture.until('new', (config) => messageOn(config) !== undefined);
    await fixture.pass(50);
    expect(fixture.created('jobs')).toBe(0);
  });

  it('a legacy controller in an unwatched namespace is detected by its status fields', async () => {
    fixture.run();
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await fixture.untilReady('worker-1', good);
    const looked = {
      nodeReady: true,
      lastInterfaceCheck: '2026-01-12T09:00:00+09:00',
      interfaceStatuses: [{ name: 'multinic0', interfaceIndex: 0, actualState: 'Configured' }],
    };
    await fixture.admin.patchStatus(nodeConfigs, ref, { status: looked });
    const config = await untilYielding();
    expect(messageOn(config)).toContain('the legacy controller wrote the status of worker-1');
    await fixture.apply('worker-1', { interfaces: [entry(0), entry(1)] });
    await fixture.pass(50);
    expect(fixture.agents.requests).toHaveLength(1);
  });

  it('the controller keeps yielding without a legacy Pod until a user orders the take-over', async () => {
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    fixture.run();
    await startTheirs();
    await untilYielding();
    await fixture.admin.delete(pods, pod, { gracePeriodSeconds: 0 });
    await fixture.pass(1_500);
    expect(fixture.created('jobs')).toBe(0);
    expect(messageOn(await fixture.get('worker-1'))).toContain('multinic.io/take-over=true');
    await fixture.admin.patch(nodeConfigs, ref, {
      metadata: { annotations: { 'multinic.io/take-over': 'true' } },
    });
    await fixture.untilReady('worker-1', good);
    await startTheirs();
    await fixture.until(
      'worker-1',
      (config) => messageOn(config)?.includes('runs the legacy controller') ?? false,
    );
  });

  describe('[D3] reports once and writes nothing while the legacy controller writes its status', () => {
    it('the report is not repeated with a legacy Pod in the cluster', async () => {
      await startTheirs();
      await fixture.apply('worker-1', { interfaces: [entry(0)] });
      fixture.run();
      await untilYielding();
      await putThreeTimes();
      expect(fixture.writes()).toEqual(['patch multinicnodeconfigs status']);
    });

    it('the report is not repeated with legacy Jobs only, added and deleted repeatedly', async () => {
      await fixture.apply('worker-1', { interfaces: [entry(0)] });
      await fixture.admin.patchStatus(nodeConfigs, ref, { status: theirs });
      fixture.run();
      await untilYielding();
      for (let round = 0; round < 2; round++) {
        await createTheirJob();
        await fixture.pass(50);
        await putThreeTimes();
        await fixture.admin.delete(jobs, theirJob);
        await fixture.pass(50);
      }
      expect(fixture.writes()).toEqual(['patch multinicnodeconfigs status']);
    });

    it('the report is not repeated with a legacy Pod and a changed spec', async () => {
      await startTheirs();
      await fixture.apply('worker-1', { interfaces: [entry(0)] });
      fixture.run();
      await untilYielding();
      await putTheirs('Configured');
      await fixture.apply('worker-1', { interfaces: [entry(0), entry(1)] });
      await putThreeTimes();
      expect(fixture.writes()).toEqual(['patch multinicnodeconfigs status']);
    });

    it('the report is repeated after a take-over and a restart of the legacy controller', async () => {
      await startTheirs();
      await fixture.apply('worker-1', { interfaces: [entry(0)] });
      fixture.run({ 'take-over': 'true' });
      await untilYielding();
      await putTheirs('Configured');
      await fixture.admin.delete(pods, pod, { gracePeriodSeconds: 0 });
      await fixture.untilReady('worker-1', good);
      await startTheirs();
      await untilYielding();
    });
  });

  describe('reports a second time on an object with a legacy status', () => {
    it.each([
      ['after the legacy Pod was deleted', [startTheirs], [stopTheirs]],
      [
        'after a legacy Pod started after the report and was deleted',
        [],
        [startTheirs, putThreeTimes, stopTheirs],
      ],
      [
        'after the legacy Pod was deleted with a pending spec change',
        [startTheirs],
        [attach, stopTheirs],
      ],
      [
        'after the legacy Pod was deleted, followed by a spec change',
        [startTheirs],
        [stopTheirs, attach],
      ],
      ['after a spec change without any legacy Pod', [], [attach]],
    ])('the second report on a legacy status is written %s', async (_, before, after) => {
      await fixture.apply('worker-1', { interfaces: [entry(0)] });
      await fixture.admin.patchStatus(nodeConfigs, ref, { status: theirs });
      for (const step of before) await step();
      fixture.run();
      await untilYielding();
      await putThreeTimes();
      for (const step of after) await step();
      await fixture.pass(50);
      expect(messageOn(await fixture.get('worker-1'))).toContain('multinic.io/take-over=true');
      expect(fixture.writes()).toHaveLength(2);
    });
  });

  it('objects taken over from the legacy controller are applied again, because its changes are unknown', async () => {
    fixture.run();
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await fixture.untilReady('worker-1', good);
    await startTheirs();
    const back = await untilYielding();
    expect(back.status?.applied).toBeUndefined();
    await fixture.admin.delete(pods, pod, { gracePeriodSeconds: 0 });
    await fixture.pass(50);
    expect(fixture.created('jobs')).toBe(1);
    await fixture.admin.patch(nodeConfigs, ref, {
      metadata: { annotations: { 'multinic.io/take-over': 'true' } },
    });
    await fixture.eventually(
      () => fixture.agents.requests.length === 2,
      () => 'nothing is applied again',
    );
    await fixture.untilReady('worker-1', good);
  });

  it('an own object deleted while yielding is released without a clean-up', async () => {
    fixture.run();
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await fixture.untilReady('worker-1', good);
    await startTheirs();
    await untilYielding();
    await fixture.delete('worker-1');
    await fixture.untilGone('worker-1');
    expect(fixture.agents.requests).toHaveLength(1);
  });
});

function isUnknown({ status }: NodeConfig): boolean {
  return findCondition(status?.conditions, 'Ready')?.status === 'Unknown';
}

describe("[C6] a user's condition without a time", () => {
  const byHand = { type: 'Reviewed', status: 'True', reason: 'ByHand' } as const;

  beforeEach(async () => {
    await fixture.admin.delete(jobs, theirJob);
    fixture.run();
    await fixture.addNode('worker-2', 'uuid-2');
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await fixture.apply('worker-2', { instanceId: 'uuid-2', interfaces: [entry(1)] });
    for (const name of ['worker-1', 'worker-2']) await fixture.untilReady(name, good);
  });

  it("a user's condition next to ours neither stops reconciling nor loses a record", async () => {
    const { status } = await fixture.get('worker-1');
    const conditions = [...(status?.conditions ?? []), byHand];
    await fixture.admin.patchStatus(nodeConfigs, ref, { status: { conditions } });
    await fixture.pass(50);
    await fixture.apply('worker-2', { instanceId: 'uuid-2', interfaces: [entry(1), entry(2)] });
    await fixture.untilReady('worker-2', good);
    expect(await fixture.ready('worker-1')).toBe(good);
    expect(fixture.agents.requests).toHaveLength(3);
  });

  it("a user's condition as the whole status does not stop reconciling", async () => {
    await fixture.admin.patchStatus(nodeConfigs, ref, { status: null });
    await fixture.admin.patchStatus(nodeConfigs, ref, { status: { conditions: [byHand] } });
    await fixture.pass(50);
    for (const name of ['worker-1', 'worker-2']) await fixture.untilReady(name, good);
  });

  it('a status faked in the legacy format blocks until repaired, and a changed spec is not Ready meanwhile', async () => {
    const before = await fixture.get('worker-1');
    const status = {
      conditions: [{ type: 'Ready', status: 'True', reason: 'JobSucceeded' }],
      state: 'Configured',
    };
    await fixture.admin.patchStatus(nodeConfigs, ref, { status });
    await untilYielding();
    await fixture.apply('worker-2', { instanceId: 'uuid-2', interfaces: [entry(1), entry(2)] });
    await fixture.until('worker-2', isUnknown);
    const { conditions } = before.status ?? {};
    await fixture.admin.patchStatus(nodeConfigs, ref, { status: { conditions } });
    await fixture.pass(400);
    for (const name of ['worker-1', 'worker-2']) await fixture.untilReady(name, good);
  });
});
