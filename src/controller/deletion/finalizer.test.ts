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
let fixture: ControllerFixture;

beforeEach(async () => {
  fixture = await ControllerFixture.start();
  await fixture.addNode('worker-1');
  fixture.run();
});

afterEach(async () => {
  await fixture[Symbol.asyncDispose]();
});

async function configure(): Promise<void> {
  await fixture.apply('worker-1', { interfaces: [entry(0)] });
  await fixture.untilReady('worker-1', good);
}

function actions(): string[] {
  return fixture.agents.requests.map(({ action }) => action);
}

describe('a deleted object', () => {
  it('[RW-50] a deleted object is released after its node was cleaned, together with Jobs and ConfigMaps', async () => {
    await configure();
    await fixture.delete('worker-1');
    await fixture.untilGone('worker-1');
    expect(fixture.agents.requests[1]).toMatchObject({
      action: 'cleanup',
      generation: 2,
      interfaces: [],
    });
    await fixture.eventually(
      () =>
        fixture.jobs().length + fixture.api.objects('configmaps', 'multinic-agents').length === 0,
      () => `${fixture.jobs().length} Jobs stay`,
    );
  });

  it('a deleted object stays until the clean-up succeeds, and shows the failure', async () => {
    await configure();
    const busy = nicResult(0, { state: 'Failed', reason: 'ApplyFailed', message: 'busy' });
    fixture.agents.answer = ({ attempt }) =>
      attempt < 3 ? { outcome: 'failed', nics: [busy] } : { outcome: 'ok', nics: [] };
    await fixture.delete('worker-1');
    const { status } = await fixture.untilReady('worker-1', 'False ApplyFailed');
    expect(status?.interfaceStatuses?.[0]).toMatchObject({ name: 'multinic0', message: 'busy' });
    await fixture.untilGone('worker-1');
    expect(actions()).toEqual(['apply', 'cleanup', 'cleanup', 'cleanup']);
  });

  it('a clean-up without a result does not release the object', async () => {
    await configure();
    fixture.agents.answer = () => '';
    await fixture.delete('worker-1');
    await fixture.untilReady('worker-1', 'False ResultLost');
    await fixture.pass(20);
    expect(await fixture.find('worker-1')).toBeDefined();
  });

  it('a failed clean-up without NIC results does not release the object', async () => {
    await configure();
    fixture.agents.answer = () => ({ outcome: 'failed', nics: [] });
    await fixture.delete('worker-1');
    await fixture.untilReady('worker-1', 'False JobFailed');
    await fixture.pass(20);
    expect(await fixture.find('worker-1')).toBeDefined();
  });

  it('a finalizer added by a user during our own addition is preserved', async () => {
    let asked = false;
    fixture.onEffect = (effect, phase) => {
      if (asked || effect !== 'controller.finalizer.add' || phase !== 'before') return;
      asked = true;
      const resource = 'multinicnodeconfigs.multinic.io';
      fixture.api.faults.delay({ verb: 'patch', resource, ms: 2_000 });
    };
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await fixture.eventually(
      () => asked,
      () => 'no finalizer is added',
    );
    await fixture.pass(3);
    const ref = { namespace: 'multinic-system', name: 'worker-1' };
    await fixture.admin.patch(nodeConfigs, ref, {
      metadata: { finalizers: ['example.com/other'] },
    });
    const { metadata } = await fixture.untilReady('worker-1', good);
    expect(metadata.finalizers?.toSorted()).toEqual(['example.com/other', 'multinic.io/cleanup']);
  });

  it('[RW-52] an object deleted during a controller downtime is cleaned', async () => {
    await configure();
    await fixture.stop();
    await fixture.delete('worker-1');
    fixture.run();
    await fixture.untilGone('worker-1');
    expect(actions()).toEqual(['apply', 'cleanup']);
  });

  it('a clean-up waits for a running agent on the node', async () => {
    fixture.agents.answer = ({ action }) => (action === 'apply' ? undefined : { nics: [] });
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await fixture.eventually(
      () => fixture.agents.requests.length === 1,
      () => 'no agent',
    );
    const [pod] = fixture.pods();
    if (pod) await fixture.agents.setStatus(pod, agentIn({ running: {} }));
    await fixture.delete('worker-1');
    await fixture.pass(30);
    expect(actions()).toEqual(['apply']);
    fixture.agents.answer = configured;
    await fixture.untilGone('worker-1');
    expect(actions()).toEqual(['apply', 'cleanup']);
  });

  it('a deleted object is released without a Job when its Node is certainly gone', async () => {
    await configure();
    await fixture.addNode('worker-2', 'another-server', '192.0.2.2');
    await fixture.admin.delete(nodes, { name: 'worker-1' });
    await fixture.untilReady('worker-1', 'False NodeNotFound');
    await fixture.delete('worker-1');
    await fixture.pass(10);
    await fixture.clock.advance(3_600_000);
    await fixture.untilGone('worker-1');
    expect(actions()).toEqual(['apply']);
  });

  it('a deleted object is released without a Job when another machine took its Node name', async () => {
    await configure();
    await fixture.admin.delete(nodes, { name: 'worker-1' });
    await fixture.addNode('worker-1', 'another-server');
    await fixture.untilReady('worker-1', 'False NodeNotFound');
    await fixture.delete('worker-1');
    await fixture.pass(10);
    await fixture.clock.advance(3_600_000);
    await fixture.untilGone('worker-1');
    expect(actions()).toEqual(['apply']);
  });

  it('a deleted object is not released by a stale cache without its Node; the API server is read', async () => {
    await configure();
    fixture.api.faults.onWatchEvent(({ type }, resource) =>
      resource === 'nodes' && type !== 'DELETED' ? 'drop' : 'send',
    );
    await fixture.admin.delete(nodes, { name: 'worker-1' });
    await fixture.untilReady('worker-1', 'False NodeNotFound');
    await fixture.addNode('worker-1');
    fixture.agents.answer = () => undefined;
    await fixture.delete('worker-1');
    await fixture.pass(30);
    expect(await fixture.find('worker-1')).toBeDefined();
  });

  it('a deleted object waits while two Nodes match', async () => {
    await configure();
    await fixture.addNode('clone');
    await fixture.delete('worker-1');
    await fixture.untilReady('worker-1', 'False DuplicateSystemUUID');
    await fixture.pass(30);
    expect(actions()).toEqual(['apply']);
    await fixture.admin.delete(nodes, { name: 'clone' });
    await fixture.untilGone('worker-1');
    expect(actions()).toEqual(['apply', 'cleanup']);
  });

  it('[RW-51] [RW-64] an object created, deleted and recreated under one name is applied and cleaned each time', async () => {
    const uids: (string | undefined)[] = [];
    for (let round = 0; round < 2; round++) {
      await configure();
      uids.push((await fixture.get('worker-1')).metadata.uid);
      await fixture.delete('worker-1');
      await fixture.untilGone('worker-1');
    }
    expect(actions()).toEqual(['apply', 'cleanup', 'apply', 'cleanup']);
    expect(fixture.agents.requests.map(({ uid }) => uid)).toEqual([
      uids[0],
      uids[0],
      uids[1],
      uids[1],
    ]);
    expect(uids[0]).not.toBe(uids[1]);
  });

  it('a deleted object with only a foreign finalizer causes no writes', async () => {
    await fixture.stop();
    await fixture.apply(
      'worker-1',
      { interfaces: [entry(0)] },
      { finalizers: ['example.com/other'] },
    );
    await fixture.delete('worker-1');
    fixture.run();
    await fixture.pass(30);
    expect(fixture.writes()).toEqual([]);
  });

  it('Jobs are deleted when a user removes the finalizer by hand', async () => {
    fixture.agents.answer = ({ action }) => (action === 'apply' ? '' : undefined);
    await fixture.apply('worker-1', { interfaces: [entry(0)], instanceId });
    await fixture.untilReady('worker-1', 'False ResultLost');
    await fixture.delete('worker-1');
    const ref = { namespace: 'multinic-system', name: 'worker-1' };
    await fixture.admin.patch(nodeConfigs, ref, { metadata: { finalizers: null } });
    await fixture.untilGone('worker-1');
    await fixture.eventually(
      () => fixture.jobs().length === 0,
      () => `${fixture.jobs().length} Jobs stay`,
    );
  });
});
