import { expect, it } from 'vitest';
import { system } from '../../../test/fixtures/biz-samples.ts';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';
import { Store } from '../../kube/cache/store.ts';
import type { NodeConfig } from '../objects/stores.ts';
import { LiveObjects } from './live-objects.ts';

it('an object that the cache does not show yet is not written over, even if no field differs in owner', async () => {
  await using bed = await ControllerFixture.start();
  const live = new LiveObjects({
    client: bed.admin,
    configs: new Store<NodeConfig>(),
    perform: (_name, write) => write(),
    clock: bed.clock,
  });
  const write = (instanceId: string) => {
    const metadata = { name: 'w-1', labels: {}, annotations: {} };
    const spec = { nodeName: 'w-1', instanceId, interfaces: [] };
    const { signal } = new AbortController();
    return live.apply({ object: undefined, metadata, spec, loses: false }, system, signal);
  };
  expect(await write('first')).toEqual({ kind: 'done' });
  expect(await write('second')).toEqual({ kind: 'moved' });
  expect((await bed.get('w-1')).spec?.instanceId).toBe('first');
});
