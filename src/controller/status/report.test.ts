import { expect, it } from 'vitest';
import { agentTask, nodeConfig } from '../../../test/fixtures/controller-samples.ts';
import { Store } from '../../kube/cache/store.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { createFakeClock } from '../../time/fake-clock.ts';
import { begun } from '../jobs/applied.ts';
import { acceptSpec } from '../jobs/request.ts';
import type { NodeConfig } from '../objects/stores.ts';
import { createReporter, type ReportOptions } from './report.ts';

/** Returns a merge patch as stored by the API server: null keys removed. */
const merged = (patch: object): unknown =>
  JSON.parse(JSON.stringify(patch, (_, value: unknown) => (value === null ? undefined : value)));

/** Creates a reporter with fakes for everything but the given parts. */
function reporterWith({
  patchStatus,
  configs = new Store<NodeConfig>(),
}: {
  readonly patchStatus: (resource: unknown, ref: unknown, patch: unknown) => Promise<NodeConfig>;
} & Partial<Pick<ReportOptions, 'configs'>>) {
  return createReporter({
    client: { patchStatus } as unknown as Pick<KubeClient, 'patchStatus'>,
    configs,
    recorder: { record: () => undefined },
    metrics: { count: () => undefined, set: () => undefined, observe: () => undefined },
    perform: (_name, write) => write(),
    clock: createFakeClock(),
  });
}

it('wrote() is true only for the status being written, and only during the write', async () => {
  const answer = Promise.withResolvers<void>();
  const sent: unknown[] = [];
  const applied = {
    ...begun(agentTask(), 'job-1', { protocol: 3 }, new Date(0)),
    bootId: 'boot-1',
  };
  const config = nodeConfig({ status: { applied } });
  const configs = new Store<NodeConfig>();
  configs.upsert(config);
  const patchStatus = async (_resource: unknown, _ref: unknown, patch: unknown) => {
    sent.push(merged((patch as { status: object }).status));
    await answer.promise;
    return written(sent[0]);
  };
  const reporter = reporterWith({ patchStatus, configs });
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
  const other = { ...(sent[0] as object), applied: { ...applied, job: 'job-2' } };
  expect(reporter.wrote(change(written(other)))).toBe(false);
  const edited = { ...labelled, metadata: { ...labelled.metadata, labels: { a: 'b' } } };
  expect(reporter.wrote(change(edited))).toBe(false);
  answer.resolve();
  await writing;
  expect(reporter.wrote(change(written(sent[0])))).toBe(false);
});
