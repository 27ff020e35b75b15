import { expect, it } from 'vitest';
import { about } from '../../test/fixtures/about.ts';
import { filesBelow, textOf } from '../../test/repo/tree.ts';
import type { Effect } from '../api/effects.ts';
import { metricTable } from '../api/metrics.ts';
import type { Reflector } from '../kube/cache/reflector.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { createPerform } from '../process/effects.ts';
import { createHealth } from '../process/health.ts';
import { createLogger } from '../process/log.ts';
import { createMetrics } from '../process/metrics.ts';
import { createFakeClock, settled } from '../time/fake-clock.ts';
import { Controllers } from './controllers.ts';

function setUp() {
  const lines: string[] = [];
  const write = (line: string): void => void lines.push(line);
  const metrics = createMetrics(metricTable);
  const controllers = new Controllers({
    part: 'operator',
    client: {} as KubeClient,
    context: {
      clock: createFakeClock(),
      random: () => 0.5,
      log: createLogger({ part: 'test', level: 'info', destination: { write } }),
      metrics,
      health: createHealth(),
      about,
      exit: () => undefined,
    },
    perform: createPerform<Effect>(() => undefined),
  });
  const shown = async (name: string) =>
    (await metrics.registry.getSingleMetricAsString(name))
      .split('\n')
      .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name}_count{`));
  return { controllers, shown, lines };
}

const definition = { keyField: 'config', workers: 1, sources: [], reflectors: [] };

it('every controller counts its results and durations, and logs its failures', async () => {
  const { controllers, shown, lines } = setUp();
  const stop = new AbortController();
  const working = controllers.define({
    ...definition,
    name: 'working',
    reconcile: async () => undefined,
    stateAfter: (key) => `state of ${key}`,
  });
  const failing = controllers.define({
    ...definition,
    name: 'failing',
    reconcile: async () => {
      throw new Error('refused');
    },
  });
  const running = controllers.run(stop.signal);
  working.enqueue('a');
  failing.enqueue('b');
  await settled();
  stop.abort();
  await running;
  expect(await shown('multinic_reconcile_total')).toEqual([
    'multinic_reconcile_total{controller="working",result="success",status="state of a"} 1',
    'multinic_reconcile_total{controller="failing",result="error",status="reconcile_error"} 1',
  ]);
  expect(await shown('multinic_reconcile_duration_seconds')).toEqual([
    'multinic_reconcile_duration_seconds_count{controller="working"} 1',
    'multinic_reconcile_duration_seconds_count{controller="failing"} 1',
  ]);
  const failures = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(failures).toMatchObject([{ controller: 'failing', config: 'b', level: 'warn' }]);
});

it('a controller waits for its condition, and ends while it waits', async () => {
  const { controllers } = setUp();
  const stop = new AbortController();
  const reconciled: string[] = [];
  const begun = Promise.withResolvers<void>();
  const reconcile = async (key: string) => void reconciled.push(key);
  controllers
    .define({ ...definition, name: 'later', reconcile, startsAfter: async () => begun.promise })
    .enqueue('a');
  const first = new AbortController();
  const ending = controllers.run(first.signal);
  await settled();
  first.abort();
  await ending;
  expect(reconciled).toEqual([]);
  const running = controllers.run(stop.signal);
  begun.resolve();
  await settled();
  expect(reconciled).toEqual(['a']);
  stop.abort();
  await running;
});

function watch(state: Reflector['state']): Reflector {
  return { state } as Reflector;
}

async function idle(): Promise<void> {}

it('the part is not ready while a watch of any controller lists', () => {
  const { controllers } = setUp();
  controllers.define({
    ...definition,
    name: 'a',
    reconcile: idle,
    reflectors: [watch('watching')],
  });
  expect(controllers.notReady()).toBeUndefined();
  controllers.define({ ...definition, name: 'b', reconcile: idle, reflectors: [watch('listing')] });
  expect(controllers.notReady()).toBe('1 watch is not up to date');
  controllers.define({ ...definition, name: 'c', reconcile: idle, reflectors: [watch('waiting')] });
  expect(controllers.notReady()).toBe('2 watches are not up to date');
});

it('a failed task of the leader ends the controllers and is thrown', async () => {
  const { controllers } = setUp();
  controllers.define({ ...definition, name: 'a', reconcile: idle });
  const tasks = { networks: async () => Promise.reject(new Error('no networks')) };
  await expect(controllers.run(new AbortController().signal, { tasks })).rejects.toThrow(
    'no networks',
  );
});

it('the parts create controllers and watches only here, so that none lacks metrics, log lines or readiness', () => {
  const parts = filesBelow('src').filter(
    (path) => path.endsWith('.ts') && !/\.test\.ts$|^src\/(kube|runtime)\//.test(path),
  );
  const own = parts.filter((path) =>
    /import \{[^}]*\bcreate(Controller|Reflector)\b/.test(textOf(path)),
  );
  expect(own).toEqual([]);
});
