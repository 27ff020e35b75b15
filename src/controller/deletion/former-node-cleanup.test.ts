import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';
import { entry } from '../../../test/fixtures/controller-samples.ts';
import { findCondition } from '../../api/condition.ts';
import { nodes } from '../../kube/core-resources.ts';
import { nodeConfigs } from '../objects/stores.ts';

const good = 'True AllInterfacesConfigured';
let bed: ControllerFixture;

beforeEach(async () => {
  bed = await ControllerFixture.start();
});

afterEach(async () => {
  await bed[Symbol.asyncDispose]();
});

/** Two nodes; the object means the first. */
async function configureNodeA(): Promise<void> {
  await bed.addNode('node-a', 'uuid-a');
  await bed.addNode('node-b', 'uuid-b');
  bed.run();
  await bed.apply('worker-1', { instanceId: 'uuid-a', interfaces: [entry(0)] });
  await bed.untilReady('worker-1', good);
}

/** The object means node-b now; that it leaves node-a is agreed to. */
async function move(): Promise<void> {
  await bed.apply('worker-1', { instanceId: 'uuid-b', interfaces: [entry(0)] });
  await agree();
}

function agree() {
  const annotations = { 'multinic.io/allow-removals': 'now' };
  const ref = { namespace: 'multinic-system', name: 'worker-1' };
  return bed.admin.patch(nodeConfigs, ref, { metadata: { annotations } });
}

function requested(): string[] {
  return bed.agents.requests.map(({ action, nodeName }) => `${action} ${nodeName}`);
}

function untilRequests(count: number): Promise<void> {
  return bed.eventually(
    () => bed.agents.requests.length >= count,
    () => `${bed.agents.requests.length} requests, not ${count}`,
  );
}

describe('what was done on a node that the object does not mean any more', () => {
  it('leaves the node that an object meant before, then serves the one that it means now', async () => {
    await configureNodeA();
    await move();
    await bed.untilReady('worker-1', good);
    expect(requested()).toEqual(['apply node-a', 'cleanup node-a', 'apply node-b']);
    await bed.delete('worker-1');
    await bed.untilGone('worker-1');
    expect(requested().at(-1)).toBe('cleanup node-b');
  });

  it('leaves a node that shares its machineID with the one that is meant now', async () => {
    await bed.addNode('node-a', 'uuid-a');
    await bed.addNode('node-b', 'uuid-b');
    // Made from one image that was started once before it was saved.
    await bed.setNode('node-a', { systemUUID: 'uuid-a', machineID: 'same', bootID: 'a' });
    await bed.setNode('node-b', { systemUUID: 'uuid-b', machineID: 'same', bootID: 'b' });
    bed.run();
    await bed.apply('worker-1', { instanceId: 'uuid-a', interfaces: [entry(0)] });
    await bed.untilReady('worker-1', good);
    await move();
    await bed.untilReady('worker-1', good);
    expect(requested()).toEqual(['apply node-a', 'cleanup node-a', 'apply node-b']);
  });

  it.each([
    ['comes back', ['apply node-a', 'cleanup node-a', 'apply node-b']],
    ['is gone', ['apply node-a', 'apply node-b']],
  ])('waits for a former node that is not ready, and goes on when it %s', async (how, wanted) => {
    await configureNodeA();
    // Longer than anything of the first run would be looked at again.
    await bed.pass(1_250);
    await bed.setReady('node-a', 'Unknown');
    await move();
    const { status } = await bed.untilReady('worker-1', 'False NodeNotReady');
    expect(findCondition(status?.conditions, 'Ready')?.message).toContain('is cleaned first');
    await bed.pass(50);
    const since = bed.clock.monotonicMs();
    if (how === 'is gone') await bed.admin.delete(nodes, { name: 'node-a' });
    else await bed.setReady('node-a', 'True');
    await bed.untilReady('worker-1', good);
    expect(requested()).toEqual(wanted);
    // Nobody tells it: it looks again after half a minute, long before everything is listed anew.
    expect(bed.clock.monotonicMs() - since).toBeLessThan(120_000);
  });

  it('tells why a former node is not clean yet', async () => {
    await configureNodeA();
    bed.agents.answer = () => ({ outcome: 'failed', warnings: ['netplan is not there'] });
    await move();
    const { status } = await bed.untilReady('worker-1', 'False JobFailed');
    const message =
      'node node-a, which the object meant before, is cleaned first: netplan is not there';
    expect(findCondition(status?.conditions, 'Ready')?.message).toBe(message);
    // Also while it is tried again.
    await untilRequests(4);
    expect(await bed.ready('worker-1')).toBe('False JobFailed');
  });

  it('is cleaned where it was done when the object is deleted after it began to mean another node', async () => {
    await configureNodeA();
    await bed.stop();
    await move();
    await bed.delete('worker-1');
    bed.run();
    await bed.untilGone('worker-1');
    expect(requested()).toContain('cleanup node-a');
  });
});
