import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ControllerFixture } from '../../test/fixtures/controller.ts';
import { agentIn, entry, instanceId, nicResult } from '../../test/fixtures/controller-samples.ts';
import { configured } from '../../test/fixtures/scripted-agents.ts';
import { jobs, nodes, pods } from '../kube/core-resources.ts';
import { type NodeConfig, nodeConfigs } from './objects/stores.ts';

const good = 'True AllInterfacesConfigured';
let fixture: ControllerFixture;

beforeEach(async () => {
  fixture = await ControllerFixture.start();
});

afterEach(async () => {
  await fixture[Symbol.asyncDispose]();
});

function lines({ status }: NodeConfig) {
  return status?.interfaceStatuses?.map(({ name, reason }) => `${name} ${reason}`);
}

/** Waits until the controller makes no more writes, and returns all writes. */
async function quiet(): Promise<readonly string[]> {
  let before = fixture.writes().length;
  for (let still = 0; still < 3; still++) {
    await fixture.pass(10);
    if (fixture.writes().length !== before) still = -1;
    before = fixture.writes().length;
  }
  return fixture.writes();
}

describe('reconciling an object', () => {
  beforeEach(async () => {
    await fixture.addNode('worker-1');
    fixture.run();
  });

  it('a new object gets the finalizer first, then one Job, one ConfigMap and a correct status', async () => {
    await fixture.apply('worker-1', { interfaces: [entry(0), entry(1)] });
    const { metadata, status } = await fixture.untilReady('worker-1', good);
    expect(metadata.finalizers).toEqual(['multinic.io/cleanup']);
    expect(status?.state).toBe('Configured');
    const { uid } = metadata;
    const request = { uid, generation: 1, attempt: 1, action: 'apply' };
    expect(fixture.agents.requests).toMatchObject([
      { ...request, protectedAddresses: ['192.0.2.1'] },
    ]);
    expect(fixture.writes().filter((write) => !write.endsWith('status'))).toEqual([
      'patch multinicnodeconfigs',
      'create jobs',
      'create configmaps',
      'patch jobs',
    ]);
  });

  it("[RW-46] a configured object causes no writes when only the Node's address changes", async () => {
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await fixture.untilReady('worker-1', good);
    const before = (await quiet()).length;
    await fixture.setNode('worker-1', { systemUUID: instanceId }, '192.0.2.9');
    await fixture.pass(100);
    expect(fixture.writes()).toHaveLength(before);
  });

  it("[RW-61] a configured object causes no log lines while only the Node's address changes", async () => {
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await fixture.untilReady('worker-1', good);
    await quiet();
    const before = [...fixture.lines];
    expect(before.join('')).toContain('worker-1');
    for (let pass = 0; pass < 10; pass++) {
      await fixture.setNode('worker-1', { systemUUID: instanceId }, `192.0.2.${pass + 9}`);
      await fixture.pass(60);
    }
    expect(fixture.lines).toEqual(before);
  });

  it('a reconcile emits one event at the end, and none for intermediate steps', async () => {
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await fixture.untilReady('worker-1', good);
    await fixture.eventually(
      () => fixture.events().includes('AllInterfacesConfigured'),
      () => 'no event',
    );
    expect(fixture.events()).toEqual(['AllInterfacesConfigured']);
  });

  it('a change in labels or specHash alone starts no agent', async () => {
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await fixture.untilReady('worker-1', good);
    await fixture.apply(
      'worker-1',
      { interfaces: [entry(0)], specHash: 'abc' },
      { labels: { a: 'b' } },
    );
    const { status } = await fixture.untilReady('worker-1', good);
    expect(status).toMatchObject({ observedGeneration: 2, observedSpecHash: 'abc' });
    expect(fixture.created('jobs')).toBe(1);
  });

  it('[RW-47] a changed spec gets exactly one new Job with its generation', async () => {
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await fixture.untilReady('worker-1', good);
    await fixture.apply('worker-1', { interfaces: [entry(0), entry(1)] });
    await fixture.untilReady('worker-1', good);
    expect(fixture.agents.requests.map(({ generation }) => generation)).toEqual([1, 2]);
    expect(fixture.created('jobs')).toBe(2);
  });

  it('a spec change costs five writes: Job, record, request, start, result', async () => {
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await fixture.untilReady('worker-1', good);
    const before = (await quiet()).length;
    await fixture.apply('worker-1', { interfaces: [entry(0), entry(1)] });
    await fixture.untilReady('worker-1', good);
    expect((await quiet()).slice(before)).toEqual([
      'create jobs',
      'patch multinicnodeconfigs status',
      'create configmaps',
      'patch jobs',
      'patch multinicnodeconfigs status',
    ]);
  });

  it('[RW-63] a result for an older generation never counts for the current generation', async () => {
    fixture.agents.answer = () => undefined;
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await fixture.eventually(
      () => fixture.agents.requests.length === 1,
      () => 'no agent',
    );
    const [pod] = fixture.pods();
    if (pod) await fixture.agents.setStatus(pod, agentIn({ running: {} }));
    await fixture.apply('worker-1', { interfaces: [entry(1)] });
    await fixture.pass(20);
    expect(fixture.agents.requests).toHaveLength(1);
    // The older agent succeeds; the newer agent fails.
    fixture.agents.answer = (request) =>
      request.generation === 1
        ? configured(request)
        : { outcome: 'failed', nics: [nicResult(1, { state: 'Failed', reason: 'ApplyFailed' })] };
    const { status } = await fixture.untilReady('worker-1', 'False ApplyFailed');
    expect(status?.state).toBe('Failed');
    expect(status?.interfaceStatuses?.find(({ id }) => id === 1)?.status).toBe('Failed');
  });

  it('[RW-48] an obsolete run is removed if its agent has not started', async () => {
    fixture.agents.answer = (request) =>
      request.generation === 1 ? { waiting: 'ContainerCreating' } : configured(request);
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await fixture.eventually(
      () => fixture.pods().length === 1,
      () => 'no Pod',
    );
    await fixture.apply('worker-1', { interfaces: [entry(1)] });
    await fixture.untilReady('worker-1', good);
    expect(fixture.jobs()).toHaveLength(1);
  });

  it('[RW-65] a NIC not plugged yet is retried until found, without a watch event', async () => {
    let plugged = false;
    const missing = nicResult(0, { state: 'Pending', reason: 'WaitingForNIC', name: '' });
    fixture.agents.answer = (request) =>
      plugged ? configured(request) : { outcome: 'partial', nics: [missing] };
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    const waiting = await fixture.untilReady('worker-1', 'False WaitingForNIC');
    expect(waiting.status?.state).toBe('Pending');
    await fixture.eventually(
      () => fixture.agents.requests.length >= 3,
      () => 'no third attempt',
    );
    plugged = true;
    await fixture.untilReady('worker-1', good);
    const attempts = fixture.agents.requests.map(({ attempt }) => attempt);
    expect(attempts).toEqual(attempts.map((_, at) => at + 1));
    // Only the last two attempts' Jobs are kept.
    expect((await quiet()) && fixture.jobs().length).toBeLessThanOrEqual(2);
  });

  it('[RW-49] failed runs are retried until success, including runs without a result', async () => {
    const answers = ['', 'panic', JSON.stringify({ protocol: 9 })];
    fixture.agents.answer = (request) => answers[request.attempt - 1] ?? configured(request);
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await fixture.untilReady('worker-1', 'False ProtocolMismatch');
    await fixture.untilReady('worker-1', good);
    expect(fixture.agents.requests).toHaveLength(4);
  });

  it("a NIC missing in the agent's ok result counts as ApplyFailed and is retried", async () => {
    fixture.agents.answer = ({ attempt, ...request }) =>
      attempt > 1 ? configured({ attempt, ...request }) : { outcome: 'ok', nics: [nicResult(0)] };
    await fixture.apply('worker-1', { interfaces: [entry(0), entry(1)] });
    const config = await fixture.untilReady('worker-1', 'False ApplyFailed');
    expect(lines(config)).toEqual(['multinic0 Configured', 'multinic1 ApplyFailed']);
    await fixture.untilReady('worker-1', good);
  });

  it('[RW-85] an empty interface list removes all NICs', async () => {
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await fixture.untilReady('worker-1', good);
    await fixture.apply('worker-1', { interfaces: [] });
    const { status } = await fixture.untilReady('worker-1', good);
    expect(status?.interfaceStatuses).toEqual([]);
    expect(fixture.agents.requests[1]).toMatchObject({ action: 'apply', interfaces: [] });
  });

  it("[RW-32] an unusable entry's NIC stays configured", async () => {
    await fixture.apply('worker-1', { interfaces: [entry(0), entry(1)] });
    await fixture.untilReady('worker-1', good);
    await fixture.apply('worker-1', { interfaces: [entry(0), entry(1, { cidr: '10.7.0.0/24' })] });
    const config = await fixture.untilReady('worker-1', 'False InvalidEntries');
    expect(lines(config)).toEqual(['multinic0 Configured', 'multinic1 InvalidEntry']);
    expect(fixture.agents.requests[1]).toMatchObject({ keep: ['fa:16:3e:00:00:01'] });
    const before = (await quiet()).length;
    await fixture.pass(100);
    expect(fixture.writes()).toHaveLength(before);
  });

  it('a missing image shows ImagePullFailed, and the same Job continues when the image is available', async () => {
    fixture.agents.answer = () => ({ waiting: 'ImagePullBackOff' });
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await fixture.untilReady('worker-1', 'False ImagePullFailed');
    fixture.agents.answer = configured;
    await fixture.untilReady('worker-1', good);
    expect(fixture.created('jobs')).toBe(1);
  });

  it.each(['Pod', 'Job'])(
    '[RW-49] the status stays unchanged when the %s is deleted after the result was read',
    async (kind) => {
      await fixture.apply('worker-1', { interfaces: [entry(0)] });
      await fixture.untilReady('worker-1', good);
      await quiet();
      const [object] = kind === 'Pod' ? fixture.pods() : fixture.jobs();
      const ref = { namespace: 'multinic-agents', name: object?.metadata.name ?? '' };
      if (kind === 'Pod') await fixture.admin.delete(pods, ref, { gracePeriodSeconds: 0 });
      else await fixture.admin.delete(jobs, ref, { propagationPolicy: 'Background' });
      const gone = (): boolean => (kind === 'Pod' ? fixture.pods() : fixture.jobs()).length === 0;
      await fixture.eventually(gone, () => `the ${kind} stays`);
      const before = fixture.writes().length;
      await fixture.pass(50);
      expect(fixture.writes()).toHaveLength(before);
      await fixture.untilReady('worker-1', good);
    },
  );

  it('a new generation without new contents inherits the record and starts no Job', async () => {
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await fixture.untilReady('worker-1', good);
    await quiet();
    for (const { metadata } of fixture.pods()) {
      const ref = { namespace: 'multinic-agents', name: metadata.name };
      await fixture.admin.delete(pods, ref, { gracePeriodSeconds: 0 });
    }
    await fixture.apply('worker-1', { interfaces: [entry(0)], specHash: 'only the hash' });
    await fixture.untilReady('worker-1', good);
    expect(fixture.created('jobs')).toBe(1);
  });

  it('an object whose status was deleted is applied again, because its record is lost', async () => {
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await fixture.untilReady('worker-1', good);
    await quiet();
    const ref = { namespace: 'multinic-system', name: 'worker-1' };
    await fixture.admin.patchStatus(nodeConfigs, ref, { status: null });
    await fixture.untilReady('worker-1', good);
    await quiet();
    expect(fixture.created('jobs')).toBe(2);
  });

  it("with take-over, the legacy controller's status is replaced", async () => {
    const ref = { namespace: 'multinic-system', name: 'worker-1' };
    await fixture.stop();
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    const theirs = {
      state: 'Configured',
      observedGeneration: 1,
      nodeReady: true,
      lastJobName: 'multinic-agent-worker-1-g1',
      conditions: [{ type: 'Ready', status: 'True', reason: 'JobSucceeded' }],
      interfaceStatuses: [{ name: 'multinic0', actualState: 'Configured' }],
    };
    await fixture.admin.patchStatus(nodeConfigs, ref, { status: theirs });
    fixture.run({ 'take-over': 'true' });
    await fixture.untilReady('worker-1', good);
    expect(fixture.created('jobs')).toBe(1);
    const config = await fixture.get('worker-1');
    expect(config.statusKeys).not.toContain('nodeReady');
    expect(lines(config)).toEqual(['multinic0 Configured']);
  });
});

describe('an object without a node', () => {
  it('[RW-66] an object without a Node waits and is applied when the Node appears, without a restart', async () => {
    fixture.run();
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    const { status } = await fixture.untilReady('worker-1', 'False NodeNotFound');
    expect(status?.state).toBe('Pending');
    expect(fixture.created('jobs')).toBe(0);
    await fixture.addNode('worker-1');
    await fixture.untilReady('worker-1', good);
  });

  it('an object is refused while two Nodes share its systemUUID, and applied after one Node is deleted', async () => {
    await fixture.addNode('worker-1');
    await fixture.addNode('clone');
    fixture.run();
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await fixture.untilReady('worker-1', 'False DuplicateSystemUUID');
    expect(fixture.created('jobs')).toBe(0);
    await fixture.admin.delete(nodes, { name: 'clone' });
    await fixture.untilReady('worker-1', good);
  });

  it('two objects for one node are both refused and keep their NICs', async () => {
    await fixture.addNode('worker-1');
    fixture.run();
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await fixture.untilReady('worker-1', good);
    await fixture.apply('renamed', { interfaces: [entry(1)] });
    await fixture.untilReady('renamed', 'False DuplicateInstanceId');
    await fixture.untilReady('worker-1', 'False DuplicateInstanceId');
    expect(lines(await fixture.get('worker-1'))).toEqual(['multinic0 Configured']);
    expect(fixture.created('jobs')).toBe(1);
    await fixture.delete('worker-1');
    await fixture.untilReady('renamed', good);
    const actions = fixture.agents.requests.map(({ action }) => action);
    expect(actions).toEqual(['apply', 'cleanup', 'apply']);
  });
});

describe('many objects', () => {
  it('five objects with max-in-flight 2 are all applied, never more than two at once', async () => {
    fixture.run({ 'max-in-flight': '2' });
    const names = ['a', 'b', 'c', 'd', 'e'];
    let most = 0;
    fixture.agents.answer = (request) => {
      const open = fixture.pods().filter(({ status }) => status?.phase !== 'Succeeded');
      most = Math.max(most, open.length);
      return configured(request);
    };
    for (const [at, name] of names.entries()) {
      await fixture.addNode(name, `${instanceId}${at}`);
      await fixture.apply(name, { instanceId: `${instanceId}${at}`, interfaces: [entry(0)] });
    }
    for (const name of names) await fixture.untilReady(name, good);
    expect(most).toBeLessThanOrEqual(2);
    expect(fixture.created('jobs')).toBe(5);
  });

  it("an object is applied while another node's agent never returns", async () => {
    fixture.run();
    await fixture.addNode('first', 'uuid-b');
    await fixture.apply('first', { instanceId: 'uuid-b', interfaces: [entry(0)] });
    await fixture.untilReady('first', good);
    await fixture.addNode('stuck', 'uuid-a');
    await fixture.addNode('worker-1');
    fixture.agents.answer = (request) =>
      request.nodeName === 'stuck' ? undefined : configured(request);
    await fixture.apply('stuck', { instanceId: 'uuid-a', interfaces: [entry(0)] });
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await fixture.untilReady('worker-1', good);
    await fixture.untilReady('stuck', 'Unknown SpecChanged');
  });
});
