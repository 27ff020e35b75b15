import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';
import {
  agentIn,
  entry,
  instanceId,
  nicResult,
} from '../../../test/fixtures/controller-samples.ts';
import { configured } from '../../../test/fixtures/scripted-agents.ts';
import { nodes } from '../../kube/core-resources.ts';
import { nodeConfigs } from '../objects/stores.ts';

const good = 'True AllInterfacesConfigured';
let bed: ControllerFixture;

beforeEach(async () => {
  bed = await ControllerFixture.start();
  await bed.addNode('worker-1');
  bed.run();
});

afterEach(async () => {
  await bed[Symbol.asyncDispose]();
});

async function configure(): Promise<void> {
  await bed.apply('worker-1', { interfaces: [entry(0)] });
  await bed.untilReady('worker-1', good);
}

function actions(): string[] {
  return bed.agents.requests.map(({ action }) => action);
}

describe('an object that is deleted', () => {
  it('[RW-50] goes after its node was cleaned, and its Jobs and ConfigMaps with it', async () => {
    await configure();
    await bed.delete('worker-1');
    await bed.untilGone('worker-1');
    expect(bed.agents.requests[1]).toMatchObject({
      action: 'cleanup',
      generation: 2,
      interfaces: [],
    });
    await bed.eventually(
      () => bed.jobs().length + bed.api.objects('configmaps', 'multinic-agents').length === 0,
      () => `${bed.jobs().length} Jobs stay`,
    );
  });

  it('stays until the cleanup has worked, and tells why it stays', async () => {
    await configure();
    const busy = nicResult(0, { state: 'Failed', reason: 'ApplyFailed', message: 'busy' });
    bed.agents.answer = ({ attempt }) =>
      attempt < 3 ? { outcome: 'failed', nics: [busy] } : { outcome: 'ok', nics: [] };
    await bed.delete('worker-1');
    const { status } = await bed.untilReady('worker-1', 'False ApplyFailed');
    expect(status?.interfaceStatuses?.[0]).toMatchObject({ name: 'multinic0', message: 'busy' });
    await bed.untilGone('worker-1');
    expect(actions()).toEqual(['apply', 'cleanup', 'cleanup', 'cleanup']);
  });

  it('is not let go by silence', async () => {
    await configure();
    bed.agents.answer = () => '';
    await bed.delete('worker-1');
    await bed.untilReady('worker-1', 'False ResultLost');
    await bed.pass(20);
    expect(await bed.find('worker-1')).toBeDefined();
  });

  it('is not let go by a cleanup that failed without naming a NIC', async () => {
    await configure();
    bed.agents.answer = () => ({ outcome: 'failed', nics: [] });
    await bed.delete('worker-1');
    await bed.untilReady('worker-1', 'False JobFailed');
    await bed.pass(20);
    expect(await bed.find('worker-1')).toBeDefined();
  });

  it('keeps a finalizer that somebody added while ours was being added', async () => {
    let asked = false;
    bed.onEffect = (effect, phase) => {
      if (asked || effect !== 'controller.finalizer.add' || phase !== 'before') return;
      asked = true;
      const resource = 'multinicnodeconfigs.multinic.io';
      bed.api.faults.delay({ verb: 'patch', resource, ms: 2_000 });
    };
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    await bed.eventually(
      () => asked,
      () => 'no finalizer is added',
    );
    await bed.pass(3);
    const ref = { namespace: 'multinic-system', name: 'worker-1' };
    await bed.admin.patch(nodeConfigs, ref, { metadata: { finalizers: ['example.com/other'] } });
    const { metadata } = await bed.untilReady('worker-1', good);
    expect(metadata.finalizers?.toSorted()).toEqual(['example.com/other', 'multinic.io/cleanup']);
  });

  it('[RW-52] is cleaned when the controller was down at the time', async () => {
    await configure();
    await bed.stop();
    await bed.delete('worker-1');
    bed.run();
    await bed.untilGone('worker-1');
    expect(actions()).toEqual(['apply', 'cleanup']);
  });

  it('waits for an agent that is still at work on the node', async () => {
    bed.agents.answer = ({ action }) => (action === 'apply' ? undefined : { nics: [] });
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    await bed.eventually(
      () => bed.agents.requests.length === 1,
      () => 'no agent',
    );
    const [pod] = bed.pods();
    if (pod) await bed.agents.setStatus(pod, agentIn({ running: {} }));
    await bed.delete('worker-1');
    await bed.pass(30);
    expect(actions()).toEqual(['apply']);
    bed.agents.answer = configured;
    await bed.untilGone('worker-1');
    expect(actions()).toEqual(['apply', 'cleanup']);
  });

  it('goes without a Job when its node is gone for certain, whatever others there are', async () => {
    await configure();
    await bed.addNode('worker-2', 'another-server', '192.0.2.2');
    await bed.admin.delete(nodes, { name: 'worker-1' });
    await bed.untilReady('worker-1', 'False NodeNotFound');
    await bed.delete('worker-1');
    await bed.pass(10);
    await bed.clock.advance(3_600_000);
    await bed.untilGone('worker-1');
    expect(actions()).toEqual(['apply']);
  });

  it('goes without a Job when another machine has taken the name of its node', async () => {
    await configure();
    await bed.admin.delete(nodes, { name: 'worker-1' });
    await bed.addNode('worker-1', 'another-server');
    await bed.untilReady('worker-1', 'False NodeNotFound');
    await bed.delete('worker-1');
    await bed.pass(10);
    await bed.clock.advance(3_600_000);
    await bed.untilGone('worker-1');
    expect(actions()).toEqual(['apply']);
  });

  it('does not go because its node is missing in what was seen last: the server is asked', async () => {
    await configure();
    bed.api.faults.onWatchEvent(({ type }, resource) =>
      resource === 'nodes' && type !== 'DELETED' ? 'drop' : 'send',
    );
    await bed.admin.delete(nodes, { name: 'worker-1' });
    await bed.untilReady('worker-1', 'False NodeNotFound');
    await bed.addNode('worker-1');
    bed.agents.answer = () => undefined;
    await bed.delete('worker-1');
    await bed.pass(30);
    expect(await bed.find('worker-1')).toBeDefined();
  });

  it('stays while two nodes could be meant', async () => {
    await configure();
    await bed.addNode('clone');
    await bed.delete('worker-1');
    await bed.untilReady('worker-1', 'False DuplicateSystemUUID');
    await bed.pass(30);
    expect(actions()).toEqual(['apply']);
    await bed.admin.delete(nodes, { name: 'clone' });
    await bed.untilGone('worker-1');
    expect(actions()).toEqual(['apply', 'cleanup']);
  });

  it('[RW-51] [RW-64] is created, deleted and created again under one name, each time with work of its own', async () => {
    const uids: (string | undefined)[] = [];
    for (let round = 0; round < 2; round++) {
      await configure();
      uids.push((await bed.get('worker-1')).metadata.uid);
      await bed.delete('worker-1');
      await bed.untilGone('worker-1');
    }
    expect(actions()).toEqual(['apply', 'cleanup', 'apply', 'cleanup']);
    expect(bed.agents.requests.map(({ uid }) => uid)).toEqual([uids[0], uids[0], uids[1], uids[1]]);
    expect(uids[0]).not.toBe(uids[1]);
  });

  it('is nobody’s business here when only the finalizer of somebody else holds it', async () => {
    await bed.stop();
    await bed.apply('worker-1', { interfaces: [entry(0)] }, { finalizers: ['example.com/other'] });
    await bed.delete('worker-1');
    bed.run();
    await bed.pass(30);
    expect(bed.writes()).toEqual([]);
  });

  it('leaves no Job behind when its finalizer was taken away by hand', async () => {
    bed.agents.answer = ({ action }) => (action === 'apply' ? '' : undefined);
    await bed.apply('worker-1', { interfaces: [entry(0)], instanceId });
    await bed.untilReady('worker-1', 'False ResultLost');
    await bed.delete('worker-1');
    const ref = { namespace: 'multinic-system', name: 'worker-1' };
    await bed.admin.patch(nodeConfigs, ref, { metadata: { finalizers: null } });
    await bed.untilGone('worker-1');
    await bed.eventually(
      () => bed.jobs().length === 0,
      () => `${bed.jobs().length} Jobs stay`,
    );
  });
});
