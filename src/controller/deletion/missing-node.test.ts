import { afterEach, beforeEach, expect, it } from 'vitest';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';
import { entry, instanceId } from '../../../test/fixtures/controller-samples.ts';
import { nodes } from '../../kube/core-resources.ts';
import { nodeConfigs } from '../objects/stores.ts';

const minuteMs = 60_000;
let fixture: ControllerFixture;

beforeEach(async () => {
  fixture = await ControllerFixture.start();
  await fixture.addNode('worker-1');
  await fixture.setNode('worker-1', { systemUUID: instanceId, machineID: 'machine-1' });
  fixture.run();
  await fixture.apply('worker-1', { interfaces: [entry(0)] });
  await fixture.untilReady('worker-1', 'True AllInterfacesConfigured');
  await fixture.admin.delete(nodes, { name: 'worker-1' });
  await fixture.untilReady('worker-1', 'False NodeNotFound');
});

afterEach(async () => {
  await fixture[Symbol.asyncDispose]();
});

async function later(minutes: number): Promise<void> {
  await fixture.clock.advance(minutes * minuteMs);
  await fixture.pass(10);
}

const actions = () => fixture.agents.requests.map(({ action }) => action);

it('[C8] a deleted object with a missing Node is cleaned when the Node returns', async () => {
  await fixture.delete('worker-1');
  await later(55);
  await fixture.addNode('worker-1');
  await fixture.untilGone('worker-1');
  expect(actions()).toEqual(['apply', 'cleanup']);
  expect(fixture.events()).not.toContain('NodeGone');
});

it('[C8] a deleted object with a missing Node is released after an hour with a Warning event, also across a restart', async () => {
  await fixture.delete('worker-1');
  await later(40);
  await fixture.stop();
  fixture.run();
  await later(15);
  expect(await fixture.ready('worker-1')).toBe('False NodeNotFound');
  await later(6);
  await fixture.untilGone('worker-1');
  await fixture.eventually(
    () => fixture.events().includes('NodeGone'),
    () => fixture.events().join(),
  );
  expect(actions()).toEqual(['apply']);
});

it.each([
  ['is released immediately', '!', true],
  ['still waits', '', false],
])(
  '[C8] a deleted object with a missing Node %s when the consent ends with "%s"',
  async (_, mark, goes) => {
    const annotations = {
      'multinic.io/delete-consent': `${fixture.clock.now().toISOString()}${mark}`,
    };
    const ref = { namespace: 'multinic-system', name: 'worker-1' };
    await fixture.admin.patch(nodeConfigs, ref, { metadata: { annotations } });
    await fixture.delete('worker-1');
    if (goes) await fixture.untilGone('worker-1');
    await fixture.pass(20);
    expect((await fixture.find('worker-1')) === undefined).toBe(goes);
  },
);

it('[C8] a deleted object is released immediately if no agent was ever started for it', async () => {
  await fixture.apply('typo', { instanceId: 'uuid-of-nothing', interfaces: [entry(1)] });
  await fixture.untilReady('typo', 'False NodeNotFound');
  await fixture.delete('typo');
  await fixture.untilGone('typo');
  expect(fixture.events()).not.toContain('NodeGone');
});

it.each([
  ['is released at once', 'worker-1', { systemUUID: 'uuid-2', machineID: 'machine-2' }, true],
  ['still waits', 'worker-1', { systemUUID: '', machineID: 'machine-2' }, false],
  ['still waits', 'worker-2', { systemUUID: 'uuid-2', machineID: 'machine-2' }, false],
])(
  '[C8] a deleted object with a missing Node %s when Node %s appears with %j',
  async (_, name, machine, goes) => {
    await fixture.delete('worker-1');
    await later(5);
    await fixture.admin.create(nodes, { metadata: { name } });
    await fixture.setNode(name, machine);
    await fixture.pass(60);
    expect((await fixture.find('worker-1')) === undefined).toBe(goes);
    expect(fixture.events().includes('NodeGone')).toBe(goes);
    expect(actions()).toEqual(['apply']);
  },
);

it('[C8] a deleted object is released at once when a new machine uses the same Node object', async () => {
  await fixture.addNode('worker-1');
  await fixture.setNode('worker-1', { systemUUID: instanceId, machineID: 'machine-1' });
  await fixture.untilReady('worker-1', 'True AllInterfacesConfigured');
  const before = actions();
  await fixture.setNode('worker-1', { systemUUID: 'uuid-2', machineID: 'machine-2' });
  await fixture.untilReady('worker-1', 'False NodeNotFound');
  await fixture.delete('worker-1');
  await fixture.pass(60);
  expect(await fixture.find('worker-1')).toBeUndefined();
  expect(actions()).toEqual(before);
});
