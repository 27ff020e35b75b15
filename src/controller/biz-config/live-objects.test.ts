import { expect, it } from 'vitest';
import { system } from '../../../test/fixtures/biz-samples.ts';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';
import { Store } from '../../kube/cache/store.ts';
import type { NodeConfig } from '../objects/stores.ts';
import { LiveObjects } from './live-objects.ts';

it('apply does not overwrite an existing object missing in the cache, even without a field conflict', async () => {
  await using fixture = await ControllerFixture.start();
  const live = new LiveObjects({
    client: fixture.admin,
    configs: new Store<NodeConfig>(),
    perform: (_name, write) => write(),
    clock: fixture.clock,
  });
  const write = (instanceId: string) => {
    const metadata = { name: 'w-1', labels: {}, annotations: {} };
    const spec = { nodeName: 'w-1', instanceId, interfaces: [] };
    const { signal } = new AbortController();
    return live.apply({ object: undefined, metadata, spec, loses: false }, system, signal);
  };
  expect(await write('first')).toEqual({ kind: 'done' });
  expect(await write('second')).toEqual({ kind: 'moved' });
  expect((await fixture.get('w-1')).spec?.instanceId).toBe('first');
});
