import { afterEach, beforeEach, expect, it } from 'vitest';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';
import { entry } from '../../../test/fixtures/controller-samples.ts';
import { nodes } from '../../kube/core-resources.ts';
import { nodeConfigs } from '../objects/stores.ts';

const minuteMs = 60_000;
let bed: ControllerFixture;

beforeEach(async () => {
  bed = await ControllerFixture.start();
  await bed.addNode('worker-1');
  bed.run();
  await bed.apply('worker-1', { interfaces: [entry(0)] });
  await bed.untilReady('worker-1', 'True AllInterfacesConfigured');
  await bed.admin.delete(nodes, { name: 'worker-1' });
  await bed.untilReady('worker-1', 'False NodeNotFound');
});

afterEach(async () => {
  await bed[Symbol.asyncDispose]();
});

async function later(minutes: number): Promise<void> {
  await bed.clock.advance(minutes * minuteMs);
  await bed.pass(10);
}

const actions = () => bed.agents.requests.map(({ action }) => action);

it('[C8] a deleted object whose Node is missing has its node cleaned when the Node comes back', async () => {
  await bed.delete('worker-1');
  await later(55);
  await bed.addNode('worker-1');
  await bed.untilGone('worker-1');
  expect(actions()).toEqual(['apply', 'cleanup']);
  expect(bed.events()).not.toContain('NodeGone');
});

it('[C8] a deleted object whose Node is missing goes after an hour with a Warning Event, also over a restart', async () => {
  await bed.delete('worker-1');
  await later(40);
  await bed.stop();
  bed.run();
  await later(15);
  expect(await bed.ready('worker-1')).toBe('False NodeNotFound');
  await later(6);
  await bed.untilGone('worker-1');
  await bed.eventually(
    () => bed.events().includes('NodeGone'),
    () => bed.events().join(),
  );
  expect(actions()).toEqual(['apply']);
});

it.each([
  ['goes at once', '!', true],
  ['waits all the same', '', false],
])(
  '[C8] a deleted object whose Node is missing %s when the consent ends with "%s"',
  async (_, mark, goes) => {
    const annotations = {
      'multinic.io/delete-consent': `${bed.clock.now().toISOString()}${mark}`,
    };
    const ref = { namespace: 'multinic-system', name: 'worker-1' };
    await bed.admin.patch(nodeConfigs, ref, { metadata: { annotations } });
    await bed.delete('worker-1');
    if (goes) await bed.untilGone('worker-1');
    await bed.pass(20);
    expect((await bed.find('worker-1')) === undefined).toBe(goes);
  },
);

it('[C8] a deleted object goes at once when no agent was ever sent for it', async () => {
  await bed.apply('typo', { instanceId: 'uuid-of-nothing', interfaces: [entry(1)] });
  await bed.untilReady('typo', 'False NodeNotFound');
  await bed.delete('typo');
  await bed.untilGone('typo');
  expect(bed.events()).not.toContain('NodeGone');
});
