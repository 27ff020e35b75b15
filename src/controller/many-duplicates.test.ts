import { expect, it } from 'vitest';
import { ControllerFixture } from '../../test/fixtures/controller.ts';
import { entry, instanceId, node, nodeConfig } from '../../test/fixtures/controller-samples.ts';
import { acceptSpec } from './jobs/request.ts';
import { createStores } from './objects/stores.ts';
import { targetOf } from './target.ts';
import { keysOfConfig } from './watch/triggers.ts';

/** Returns the number of JSON.parse calls during `work`. */
function parsed(work: () => void): number {
  const { parse } = JSON;
  let count = 0;
  JSON.parse = (text: string) => {
    count += 1;
    return parse(text) as unknown;
  };
  try {
    work();
  } finally {
    JSON.parse = parse;
  }
  return count;
}

function duplicates(size: number, spec: object = {}) {
  const stores = createStores();
  stores.nodes.upsert(node('worker-1', instanceId));
  const list = Array.from({ length: size }, (_, n) =>
    nodeConfig({
      metadata: { name: `n${n}`, uid: `uid-${n}` },
      spec: { nodeName: `n${n}`, ...spec },
    }),
  );
  for (const one of list) stores.configs.upsert(one);
  return { stores, list };
}

it.each([
  ['by their instance id', {}],
  ['by their node name', { nodeName: 'worker-1', instanceId: undefined }],
])('[C1] 3000 objects that refer to one node %s are refused in linear time', (_, spec) => {
  const { stores, list } = duplicates(3_000, spec);
  const messages = new Set<string>();
  const count = parsed(() => {
    for (const config of list) {
      const target = targetOf(config, acceptSpec(config), stores);
      if (target.kind === 'none') messages.add(target.message);
    }
  });
  expect([...messages]).toEqual(['node worker-1 is also claimed by 2999 other objects']);
  // Each object parses the Node once.
  expect(count).toBeLessThanOrEqual(3_000);
});

it('[C1] adding a duplicate to 100 duplicates enqueues only the new object', () => {
  const { stores, list } = duplicates(100);
  const [object] = list;
  if (!object) throw new Error('no objects');
  const key = 'multinic-system/n0';
  expect(keysOfConfig(stores, { type: 'added', key, object })).toEqual([key]);
});

it('[C1] the last duplicate is applied after all others were deleted', async () => {
  await using fixture = await ControllerFixture.start();
  await fixture.addNode('worker-1');
  const names = Array.from({ length: 14 }, (_, n) => `n${n}`);
  fixture.run();
  for (const name of names) await fixture.apply(name, { interfaces: [entry(0)] });
  for (const name of names) await fixture.untilReady(name, 'False DuplicateInstanceId');
  expect(fixture.agents.requests).toEqual([]);
  for (const name of names.slice(1)) await fixture.delete(name);
  await fixture.untilReady('n0', 'True AllInterfacesConfigured');
});
