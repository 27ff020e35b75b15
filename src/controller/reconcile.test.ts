import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ControllerFixture } from '../../test/fixtures/controller.ts';
import { agentIn, entry, instanceId, nicResult } from '../../test/fixtures/controller-samples.ts';
import { configured } from '../../test/fixtures/scripted-agents.ts';
import { jobs, nodes, pods } from '../kube/core-resources.ts';
import { type NodeConfig, nodeConfigs } from './objects/stores.ts';

const good = 'True AllInterfacesConfigured';
let bed: ControllerFixture;

beforeEach(async () => {
  bed = await ControllerFixture.start();
});

afterEach(async () => {
  await bed[Symbol.asyncDispose]();
});

function lines({ status }: NodeConfig) {
  return status?.interfaceStatuses?.map(({ name, reason }) => `${name} ${reason}`);
}

/** Until the controller has nothing to write any more. */
async function quiet(): Promise<readonly string[]> {
  let before = bed.writes().length;
  for (let still = 0; still < 3; still++) {
    await bed.pass(10);
    if (bed.writes().length !== before) still = -1;
    before = bed.writes().length;
  }
  return bed.writes();
}

describe('an object on its way to its node', () => {
  beforeEach(async () => {
    await bed.addNode('worker-1');
    bed.run();
  });

  it('is held first, then gets one Job, one ConfigMap and a true status', async () => {
    await bed.apply('worker-1', { interfaces: [entry(0), entry(1)] });
    const { metadata, status } = await bed.untilReady('worker-1', good);
    expect(metadata.finalizers).toEqual(['multinic.io/cleanup']);
    expect(status?.state).toBe('Configured');
    const { uid } = metadata;
    const request = { uid, generation: 1, attempt: 1, action: 'apply' };
    expect(bed.agents.requests).toMatchObject([{ ...request, protectedAddresses: ['192.0.2.1'] }]);
    expect(bed.writes().filter((write) => !write.endsWith('status'))).toEqual([
      'patch multinicnodeconfigs',
      'create jobs',
      'create configmaps',
      'patch jobs',
    ]);
  });

  it('[RW-46] is left alone once it is as it should be', async () => {
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    await bed.untilReady('worker-1', good);
    const before = (await quiet()).length;
    await bed.setNode('worker-1', { systemUUID: instanceId }, '192.0.2.9');
    await bed.pass(100);
    expect(bed.writes()).toHaveLength(before);
  });

  it('[RW-61] is said nothing of while nothing happens to it', async () => {
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    await bed.untilReady('worker-1', good);
    await quiet();
    const before = [...bed.lines];
    expect(before.join('')).toContain('worker-1');
    for (let pass = 0; pass < 10; pass++) {
      await bed.setNode('worker-1', { systemUUID: instanceId }, `192.0.2.${pass + 9}`);
      await bed.pass(60);
    }
    expect(bed.lines).toEqual(before);
  });

  it('is told of in an event when its way has come to an end, and at no step of it', async () => {
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    await bed.untilReady('worker-1', good);
    await bed.eventually(
      () => bed.events().includes('AllInterfacesConfigured'),
      () => 'no event',
    );
    expect(bed.events()).toEqual(['AllInterfacesConfigured']);
  });

  it('needs no agent for a change of labels or of the hash alone', async () => {
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    await bed.untilReady('worker-1', good);
    await bed.apply(
      'worker-1',
      { interfaces: [entry(0)], specHash: 'abc' },
      { labels: { a: 'b' } },
    );
    const { status } = await bed.untilReady('worker-1', good);
    expect(status).toMatchObject({ observedGeneration: 2, observedSpecHash: 'abc' });
    expect(bed.created('jobs')).toBe(1);
  });

  it('[RW-47] gets exactly one new Job for a changed spec, bound to its generation', async () => {
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    await bed.untilReady('worker-1', good);
    await bed.apply('worker-1', { interfaces: [entry(0), entry(1)] });
    await bed.untilReady('worker-1', good);
    expect(bed.agents.requests.map(({ generation }) => generation)).toEqual([1, 2]);
    expect(bed.created('jobs')).toBe(2);
  });

  it('costs five writes for a change: Job, record, request, start, result', async () => {
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    await bed.untilReady('worker-1', good);
    const before = (await quiet()).length;
    await bed.apply('worker-1', { interfaces: [entry(0), entry(1)] });
    await bed.untilReady('worker-1', good);
    expect((await quiet()).slice(before)).toEqual([
      'create jobs',
      'patch multinicnodeconfigs status',
      'create configmaps',
      'patch jobs',
      'patch multinicnodeconfigs status',
    ]);
  });

  it('[RW-63] never takes the result of an older generation for the current one', async () => {
    bed.agents.answer = () => undefined;
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    await bed.eventually(
      () => bed.agents.requests.length === 1,
      () => 'no agent',
    );
    const [pod] = bed.pods();
    if (pod) await bed.agents.setStatus(pod, agentIn({ running: {} }));
    await bed.apply('worker-1', { interfaces: [entry(1)] });
    await bed.pass(20);
    expect(bed.agents.requests).toHaveLength(1);
    // The older agent ends well; the newer one does not.
    bed.agents.answer = (request) =>
      request.generation === 1
        ? configured(request)
        : { outcome: 'failed', nics: [nicResult(1, { state: 'Failed', reason: 'ApplyFailed' })] };
    const { status } = await bed.untilReady('worker-1', 'False ApplyFailed');
    expect(status?.state).toBe('Failed');
    expect(status?.interfaceStatuses?.find(({ id }) => id === 1)?.status).toBe('Failed');
  });

  it('[RW-48] takes a run back that was overtaken before its agent began', async () => {
    bed.agents.answer = (request) =>
      request.generation === 1 ? { waiting: 'ContainerCreating' } : configured(request);
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    await bed.eventually(
      () => bed.pods().length === 1,
      () => 'no Pod',
    );
    await bed.apply('worker-1', { interfaces: [entry(1)] });
    await bed.untilReady('worker-1', good);
    expect(bed.jobs()).toHaveLength(1);
  });

  it('[RW-65] waits for a NIC that is not there yet, and finds it without anybody telling', async () => {
    let plugged = false;
    const missing = nicResult(0, { state: 'Pending', reason: 'WaitingForNIC', name: '' });
    bed.agents.answer = (request) =>
      plugged ? configured(request) : { outcome: 'partial', nics: [missing] };
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    const waiting = await bed.untilReady('worker-1', 'False WaitingForNIC');
    expect(waiting.status?.state).toBe('Pending');
    await bed.eventually(
      () => bed.agents.requests.length >= 3,
      () => 'no third attempt',
    );
    plugged = true;
    await bed.untilReady('worker-1', good);
    const attempts = bed.agents.requests.map(({ attempt }) => attempt);
    expect(attempts).toEqual(attempts.map((_, at) => at + 1));
    // Of all the attempts the last two are kept.
    expect((await quiet()) && bed.jobs().length).toBeLessThanOrEqual(2);
  });

  it('[RW-49] tries again after every failure, silence included, and recovers by itself', async () => {
    const answers = ['', 'panic', JSON.stringify({ protocol: 9 })];
    bed.agents.answer = (request) => answers[request.attempt - 1] ?? configured(request);
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    await bed.untilReady('worker-1', 'False ProtocolMismatch');
    await bed.untilReady('worker-1', good);
    expect(bed.agents.requests).toHaveLength(4);
  });

  it('does not believe an agent that leaves a NIC out', async () => {
    bed.agents.answer = ({ attempt, ...request }) =>
      attempt > 1 ? configured({ attempt, ...request }) : { outcome: 'ok', nics: [nicResult(0)] };
    await bed.apply('worker-1', { interfaces: [entry(0), entry(1)] });
    const config = await bed.untilReady('worker-1', 'False ApplyFailed');
    expect(lines(config)).toEqual(['multinic0 Configured', 'multinic1 ApplyFailed']);
    await bed.untilReady('worker-1', good);
  });

  it('[RW-85] removes all NICs for an empty list of interfaces', async () => {
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    await bed.untilReady('worker-1', good);
    await bed.apply('worker-1', { interfaces: [] });
    const { status } = await bed.untilReady('worker-1', good);
    expect(status?.interfaceStatuses).toEqual([]);
    expect(bed.agents.requests[1]).toMatchObject({ action: 'apply', interfaces: [] });
  });

  it('[RW-32] keeps the NIC of an entry that cannot be used', async () => {
    await bed.apply('worker-1', { interfaces: [entry(0), entry(1)] });
    await bed.untilReady('worker-1', good);
    await bed.apply('worker-1', { interfaces: [entry(0), entry(1, { cidr: '10.7.0.0/24' })] });
    const config = await bed.untilReady('worker-1', 'False InvalidEntries');
    expect(lines(config)).toEqual(['multinic0 Configured', 'multinic1 InvalidEntry']);
    expect(bed.agents.requests[1]).toMatchObject({ keep: ['fa:16:3e:00:00:01'] });
    const before = (await quiet()).length;
    await bed.pass(100);
    expect(bed.writes()).toHaveLength(before);
  });

  it('shows a Pod whose image does not come, and goes on when it comes', async () => {
    bed.agents.answer = () => ({ waiting: 'ImagePullBackOff' });
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    await bed.untilReady('worker-1', 'False ImagePullFailed');
    bed.agents.answer = configured;
    await bed.untilReady('worker-1', good);
    expect(bed.created('jobs')).toBe(1);
  });

  it.each(['Pod', 'Job'])(
    '[RW-49] keeps its status when the %s is deleted after the result was read',
    async (kind) => {
      await bed.apply('worker-1', { interfaces: [entry(0)] });
      await bed.untilReady('worker-1', good);
      await quiet();
      const [object] = kind === 'Pod' ? bed.pods() : bed.jobs();
      const ref = { namespace: 'multinic-agents', name: object?.metadata.name ?? '' };
      if (kind === 'Pod') await bed.admin.delete(pods, ref, { gracePeriodSeconds: 0 });
      else await bed.admin.delete(jobs, ref, { propagationPolicy: 'Background' });
      const gone = (): boolean => (kind === 'Pod' ? bed.pods() : bed.jobs()).length === 0;
      await bed.eventually(gone, () => `the ${kind} stays`);
      const before = bed.writes().length;
      await bed.pass(50);
      expect(bed.writes()).toHaveLength(before);
      await bed.untilReady('worker-1', good);
    },
  );

  it('carries what it recorded over to a generation that asks for nothing new', async () => {
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    await bed.untilReady('worker-1', good);
    await quiet();
    for (const { metadata } of bed.pods()) {
      const ref = { namespace: 'multinic-agents', name: metadata.name };
      await bed.admin.delete(pods, ref, { gracePeriodSeconds: 0 });
    }
    await bed.apply('worker-1', { interfaces: [entry(0)], specHash: 'only the hash' });
    await bed.untilReady('worker-1', good);
    expect(bed.created('jobs')).toBe(1);
  });

  it('is applied once more after its status was deleted: nobody knows what was done', async () => {
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    await bed.untilReady('worker-1', good);
    await quiet();
    const ref = { namespace: 'multinic-system', name: 'worker-1' };
    await bed.admin.patchStatus(nodeConfigs, ref, { status: null });
    await bed.untilReady('worker-1', good);
    await quiet();
    expect(bed.created('jobs')).toBe(2);
  });

  it('replaces the status of the deployed controller when it is told to take over', async () => {
    const ref = { namespace: 'multinic-system', name: 'worker-1' };
    await bed.stop();
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    const theirs = {
      state: 'Configured',
      observedGeneration: 1,
      nodeReady: true,
      lastJobName: 'multinic-agent-worker-1-g1',
      conditions: [{ type: 'Ready', status: 'True', reason: 'JobSucceeded' }],
      interfaceStatuses: [{ name: 'multinic0', actualState: 'Configured' }],
    };
    await bed.admin.patchStatus(nodeConfigs, ref, { status: theirs });
    bed.run({ 'take-over': 'true' });
    await bed.untilReady('worker-1', good);
    expect(bed.created('jobs')).toBe(1);
    const config = await bed.get('worker-1');
    expect(config.statusKeys).not.toContain('nodeReady');
    expect(lines(config)).toEqual(['multinic0 Configured']);
  });
});

describe('an object without a node', () => {
  it('[RW-66] waits and goes on when the node appears, without a restart', async () => {
    bed.run();
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    const { status } = await bed.untilReady('worker-1', 'False NodeNotFound');
    expect(status?.state).toBe('Pending');
    expect(bed.created('jobs')).toBe(0);
    await bed.addNode('worker-1');
    await bed.untilReady('worker-1', good);
  });

  it('is refused while two nodes have its systemUUID, and goes on when one of them is gone', async () => {
    await bed.addNode('worker-1');
    await bed.addNode('clone');
    bed.run();
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    await bed.untilReady('worker-1', 'False DuplicateSystemUUID');
    expect(bed.created('jobs')).toBe(0);
    await bed.admin.delete(nodes, { name: 'clone' });
    await bed.untilReady('worker-1', good);
  });

  it('is refused when another object means the same node: both keep what they have', async () => {
    await bed.addNode('worker-1');
    bed.run();
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    await bed.untilReady('worker-1', good);
    await bed.apply('renamed', { interfaces: [entry(1)] });
    await bed.untilReady('renamed', 'False DuplicateInstanceId');
    await bed.untilReady('worker-1', 'False DuplicateInstanceId');
    expect(lines(await bed.get('worker-1'))).toEqual(['multinic0 Configured']);
    expect(bed.created('jobs')).toBe(1);
    await bed.delete('worker-1');
    await bed.untilReady('renamed', good);
    expect(bed.agents.requests.map(({ action }) => action)).toEqual(['apply', 'apply']);
  });
});

describe('many objects', () => {
  it('are worked on no more than so many at once, and all of them in the end', async () => {
    bed.run({ 'max-in-flight': '2' });
    const names = ['a', 'b', 'c', 'd', 'e'];
    let most = 0;
    bed.agents.answer = (request) => {
      const open = bed.pods().filter(({ status }) => status?.phase !== 'Succeeded');
      most = Math.max(most, open.length);
      return configured(request);
    };
    for (const [at, name] of names.entries()) {
      await bed.addNode(name, `${instanceId}${at}`);
      await bed.apply(name, { instanceId: `${instanceId}${at}`, interfaces: [entry(0)] });
    }
    for (const name of names) await bed.untilReady(name, good);
    expect(most).toBeLessThanOrEqual(2);
    expect(bed.created('jobs')).toBe(5);
  });

  it('do not wait for one whose agent does not come back', async () => {
    bed.run();
    await bed.addNode('first', 'uuid-b');
    await bed.apply('first', { instanceId: 'uuid-b', interfaces: [entry(0)] });
    await bed.untilReady('first', good);
    await bed.addNode('stuck', 'uuid-a');
    await bed.addNode('worker-1');
    bed.agents.answer = (request) =>
      request.nodeName === 'stuck' ? undefined : configured(request);
    await bed.apply('stuck', { instanceId: 'uuid-a', interfaces: [entry(0)] });
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    await bed.untilReady('worker-1', good);
    await bed.untilReady('stuck', 'Unknown SpecChanged');
  });
});
