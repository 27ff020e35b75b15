import { expect, it } from 'vitest';
import { nodeConfig } from '../../test/beds/controller-samples.ts';
import { Store } from '../kube/cache/store.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { createFakeClock } from '../time/fake-clock.ts';
import { createReporter } from './report.ts';
import { acceptSpec } from './request.ts';
import type { NodeConfig } from './stores.ts';

it('takes for its own write what it is writing, and nothing else that happens meanwhile', async () => {
  const answer = Promise.withResolvers<void>();
  const sent: unknown[] = [];
  const config = nodeConfig();
  const configs = new Store<NodeConfig>();
  configs.upsert(config);
  const patchStatus = async (_resource: unknown, _ref: unknown, patch: unknown) => {
    sent.push((patch as { status: unknown }).status);
    await answer.promise;
    return written(sent[0]);
  };
  const reporter = createReporter({
    client: { patchStatus } as unknown as Pick<KubeClient, 'patchStatus'>,
    configs,
    recorder: { record: () => undefined },
    metrics: { count: () => undefined, set: () => undefined, observe: () => undefined },
    perform: (_name, write) => write(),
    clock: createFakeClock(),
  });
  const change = (object: NodeConfig) =>
    ({ type: 'updated', key: 'multinic-system/worker-1', object, previous: config }) as const;
  const written = (status: unknown) =>
    ({ ...config, metadata: { ...config.metadata, resourceVersion: '99' }, status }) as NodeConfig;

  const report = reporter.open(config);
  report.about(acceptSpec(config), undefined);
  report.tell({ kind: 'refused', reason: 'NodeNotFound', message: 'no such node' });
  const writing = report.write(new AbortController().signal);
  await Promise.resolve();
  expect(reporter.wrote(change(written(sent[0])))).toBe(true);
  expect(reporter.wrote(change(written({ ...(sent[0] as object), state: 'Failed' })))).toBe(false);
  const labelled = written(sent[0]);
  const edited = { ...labelled, metadata: { ...labelled.metadata, labels: { a: 'b' } } };
  expect(reporter.wrote(change(edited))).toBe(false);
  answer.resolve();
  await writing;
  expect(reporter.wrote(change(written(sent[0])))).toBe(false);
});
