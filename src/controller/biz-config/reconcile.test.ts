import { beforeEach, describe, expect, it } from 'vitest';
import { about } from '../../../test/fixtures/about.ts';
import { bizNode, system } from '../../../test/fixtures/biz-samples.ts';
import { metricTable } from '../../api/metrics.ts';
import { readBizConfig } from '../../biz-config/biz-config.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { createHealth } from '../../process/health.ts';
import { createLogger } from '../../process/log.ts';
import { createMetrics } from '../../process/metrics.ts';
import { createFakeClock, type FakeClock } from '../../time/fake-clock.ts';
import { createStores } from '../objects/stores.ts';
import { LiveObjects } from './live-objects.ts';
import { createBizReconciler } from './reconcile.ts';
import { BizReporter } from './report.ts';
import { createGroupWatch } from './watch.ts';

const key = `multinic.io/${system}/all`;
const { signal } = new AbortController();

let clock: FakeClock;
let visits: number;
let reconcile: ReturnType<typeof createBizReconciler>;
let edit: (resourceVersion: string) => void;

const perform = <T>(_name: string, write: () => Promise<T>) => write();

beforeEach(() => {
  clock = createFakeClock();
  visits = 0;
  const client = {} as KubeClient;
  const log = createLogger({
    part: 'controller',
    level: 'error',
    destination: { write: () => undefined },
  });
  const context = {
    clock,
    random: () => 0.5,
    log,
    metrics: createMetrics(metricTable),
    health: createHealth(),
    about,
    exit: () => undefined,
  };
  const watch = createGroupWatch('multinic.io', { client, context, namespace: system });
  const stores = createStores();
  const reporter = new BizReporter({
    client,
    recorder: { record: () => undefined },
    perform,
    clock,
  });
  reporter.write = async () => {
    visits += 1;
    return { againInMs: undefined };
  };
  const live = new LiveObjects({ client, configs: stores.configs, perform, clock });
  reconcile = createBizReconciler({
    watches: [watch],
    stores,
    live,
    reporter,
    setting: 'read-only',
    countRemovals: async () => ({ kind: 'counted', usesWith: () => [] }),
    clock,
  });
  edit = (resourceVersion) => {
    const metadata = { name: 'all', namespace: system, uid: 'u', generation: 1, resourceVersion };
    watch.store.upsert(readBizConfig({ metadata, spec: { nodeConfigs: [bizNode(1, [1])] } }));
  };
  edit('1');
});

describe('a source', () => {
  it('a source is reconciled once in 5 s, however often its nodes change', async () => {
    for (let change = 0; change < 1_000; change++) await reconcile(key, signal);
    expect(visits).toBe(1);
    expect(await reconcile(key, signal)).toEqual({ requeueAfterMs: 5_000 });
    await clock.advance(5_000);
    await reconcile(key, signal);
    expect(visits).toBe(2);
  });

  it('an edited source is reconciled immediately', async () => {
    await reconcile(key, signal);
    edit('2');
    await reconcile(key, signal);
    expect(visits).toBe(2);
  });
});
