import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';
import { entry } from '../../../test/fixtures/controller-samples.ts';
import { findCondition } from '../../api/condition.ts';
import { nodes } from '../../kube/core-resources.ts';
import { nodeConfigs } from '../objects/stores.ts';

const good = 'True AllInterfacesConfigured';
let fixture: ControllerFixture;

beforeEach(async () => {
  fixture = await ControllerFixture.start();
});

afterEach(async () => {
  await fixture[Symbol.asyncDispose]();
});

/** Adds two nodes and configures the object on the first. */
async function configureNodeA(): Promise<void> {
  await fixture.addNode('node-a', 'uuid-a');
  await fixture.addNode('node-b', 'uuid-b');
  fixture.run();
  await fixture.apply('worker-1', { instanceId: 'uuid-a', interfaces: [entry(0)] });
  await fixture.untilReady('worker-1', good);
}

function point() {
  return fixture.apply('worker-1', { instanceId: 'uuid-b', interfaces: [entry(0)] });
}

/** Moves the object to node-b, with consent for removals on node-a once they are held. */
async function move(): Promise<void> {
  await point();
  await fixture.untilReady('worker-1', 'False RemovalHeld');
  await agree();
}

function agree() {
  const annotations = { 'multinic.io/allow-removals': 'now' };
  const ref = { namespace: 'multinic-system', name: 'worker-1' };
  return fixture.admin.patch(nodeConfigs, ref, { metadata: { annotations } });
}

function requested(): string[] {
  return fixture.agents.requests.map(({ action, nodeName }) => `${action} ${nodeName}`);
}

function untilRequests(count: number): Promise<void> {
  return fixture.eventually(
    () => fixture.agents.requests.length >= count,
    () => `${fixture.agents.requests.length} requests, not ${count}`,
  );
}

describe('clean-up of a former node', () => {
  it('a moved object is cleaned on its former node, then applied on the new node', async () => {
    await configureNodeA();
    await move();
    await fixture.untilReady('worker-1', good);
    expect(requested()).toEqual(['apply node-a', 'cleanup node-a', 'apply node-b']);
    await fixture.delete('worker-1');
    await fixture.untilGone('worker-1');
    expect(requested().at(-1)).toBe('cleanup node-b');
  });

  it('a former node with the same machineID as the new node is cleaned', async () => {
    await fixture.addNode('node-a', 'uuid-a');
    await fixture.addNode('node-b', 'uuid-b');
    // Both machines come from one image saved after a boot, hence the same machine id.
    await fixture.setNode('node-a', { systemUUID: 'uuid-a', machineID: 'same', bootID: 'a' });
    await fixture.setNode('node-b', { systemUUID: 'uuid-b', machineID: 'same', bootID: 'b' });
    fixture.run();
    await fixture.apply('worker-1', { instanceId: 'uuid-a', interfaces: [entry(0)] });
    await fixture.untilReady('worker-1', good);
    await move();
    await fixture.untilReady('worker-1', good);
    expect(requested()).toEqual(['apply node-a', 'cleanup node-a', 'apply node-b']);
  });

  it.each([
    ['comes back', ['apply node-a', 'cleanup node-a', 'apply node-b']],
    ['is gone', ['apply node-a', 'apply node-b']],
  ])('a former node that is not ready is waited for, until it %s', async (how, wanted) => {
    await configureNodeA();
    // Longer than any fallback requeue from the first run.
    await fixture.pass(1_250);
    await fixture.setReady('node-a', 'Unknown');
    await move();
    const { status } = await fixture.untilReady('worker-1', 'False NodeNotReady');
    expect(findCondition(status?.conditions, 'Ready')?.message).toContain(
      'former node node-a first',
    );
    await fixture.pass(50);
    const since = fixture.clock.monotonicMs();
    if (how === 'is gone') await fixture.admin.delete(nodes, { name: 'node-a' });
    else await fixture.setReady('node-a', 'True');
    await fixture.untilReady('worker-1', good);
    expect(requested()).toEqual(wanted);
    // Without a watch event the requeue comes after 30 s, long before the next full list.
    expect(fixture.clock.monotonicMs() - since).toBeLessThan(120_000);
  });

  it('the status shows why a former node is not clean yet, also during retries', async () => {
    await configureNodeA();
    fixture.agents.answer = () => ({ outcome: 'failed', warnings: ['netplan is not there'] });
    await move();
    const { status } = await fixture.untilReady('worker-1', 'False JobFailed');
    const message = 'NICs are removed from the former node node-a first: netplan is not there';
    expect(findCondition(status?.conditions, 'Ready')?.message).toBe(message);
    // The message stays during retries.
    await untilRequests(4);
    expect(await fixture.ready('worker-1')).toBe('False JobFailed');
  });

  it('an object moved and then deleted is cleaned on its former node', async () => {
    await configureNodeA();
    await fixture.stop();
    await point();
    await fixture.delete('worker-1');
    fixture.run();
    await fixture.untilGone('worker-1');
    expect(requested()).toContain('cleanup node-a');
  });
});
