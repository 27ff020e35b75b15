import { describe, expect, it } from 'vitest';
import { about } from '../../test/fixtures/about.ts';
import { schemaNumbers } from '../api/crd/schema-numbers.ts';
import { metricTable } from '../api/metrics.ts';
import { annotations } from '../api/names.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { KubeError } from '../kube/errors.ts';
import type { KubeObject } from '../kube/object.ts';
import { type Action, claimsOf, keyOfAction, type RightsTable } from '../kube/rights.ts';
import { createHealth } from '../process/health.ts';
import { createLogger } from '../process/log.ts';
import { createMetrics } from '../process/metrics.ts';
import type { PartContext } from '../process/part.ts';
import { createFakeClock } from '../time/fake-clock.ts';
import { createSelfCheck } from './self-check.ts';

const why = { en: 'It works with it.', ko: '작업' };
const table: RightsTable<'cluster' | 'own', never> = {
  clusterRole: 'wide',
  roles: { own: 'narrow' },
  rights: [
    { group: 'batch', resource: 'jobs/status', verbs: ['get', 'patch'], where: 'cluster', why },
    { group: '', resource: 'secrets', names: ['a'], verbs: ['get', 'patch'], where: 'own', why },
  ],
};
const claims = claimsOf(table.rights, { cluster: 'cluster', own: ['ns'] });
const all = claims.map(({ action }) => keyOfAction(action));
const definition = 'multinicnodeconfigs.multinic.io';
const current = schemaNumbers[definition];
const minute = 60_000;

const random = () => 0.5;
const exit = () => undefined;

type Answer = 'yes' | 'no' | 'undecided' | KubeError | 'nothing';

/** A part with a scripted API server. */
class Bench {
  readonly clock = createFakeClock();
  readonly health = createHealth();
  readonly metrics = createMetrics(metricTable);
  readonly lines: Record<string, unknown>[] = [];
  readonly requested: string[] = [];
  readonly events: Record<string, unknown>[] = [];
  readonly stop = new AbortController();
  answer: (action: Action) => Answer = () => 'yes';
  /** The definition's schema annotation; undefined: no definition exists. */
  schema: string | undefined | KubeError = String(current);
  mayWriteEvents = true;
  readonly done: Promise<void> | undefined;

  constructor(context: Partial<PartContext<typeof metricTable>> = {}) {
    const { clock, health, metrics, lines } = this;
    const log = createLogger({
      part: 'test',
      level: 'info',
      destination: { write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[0]) },
    });
    const pod = { name: 'me-1', namespace: 'ns', uid: 'u' };
    this.done = createSelfCheck({
      client: this.#client(),
      context: { clock, random, log, metrics, health, about, exit, pod, ...context },
      component: 'test',
      table,
      claims,
      definition,
    })?.(this.stop.signal);
  }

  #client() {
    const client = {
      mayI: async (action: Action, { signal }: { signal: AbortSignal }) => {
        this.requested.push(keyOfAction(action));
        const answer = this.answer(action);
        if (answer instanceof KubeError) throw answer;
        if (answer !== 'nothing') return answer;
        await this.clock.sleep(1e9, signal);
        return 'yes' as const;
      },
      find: async () => {
        if (this.schema instanceof KubeError) throw this.schema;
        const name = definition;
        return this.schema === undefined
          ? undefined
          : { metadata: { name, annotations: { [annotations.schema]: this.schema } } };
      },
      create: async (_: unknown, event: KubeObject) => {
        if (!this.mayWriteEvents) throw error(403, 'Forbidden');
        this.events.push(event as unknown as Record<string, unknown>);
        return event;
      },
      patch: async (_: unknown, __: unknown, change: Record<string, unknown>) => {
        this.events.push(change);
        return change;
      },
    };
    return client as unknown as KubeClient;
  }

  refuse(...keys: readonly string[]): void {
    this.answer = (action) => (keys.includes(keyOfAction(action)) ? 'no' : 'yes');
  }

  get readiness() {
    return this.health.readiness().failing;
  }

  async metric(name: string): Promise<string | undefined> {
    const text = await this.metrics.registry.metrics();
    return text.split('\n').find((line) => line.startsWith(name));
  }

  logged(level: 'info' | 'warn' | 'error') {
    return this.lines.filter((line) => line['level'] === level);
  }
}

function error(status: number, reason: string): KubeError {
  return new KubeError({ status, reason, message: `${status} ${reason}` });
}

describe('self-check with all rights and the current definition', () => {
  it('self-check reports nothing, runs every ten minutes and ends when its signal aborts', async () => {
    const bench = new Bench();
    await bench.clock.advance(0);
    expect(bench.requested.toSorted()).toEqual(all.toSorted());
    await bench.clock.advance(9 * minute);
    expect(bench.requested).toHaveLength(all.length);
    await bench.clock.advance(3 * minute);
    expect(bench.requested).toHaveLength(2 * all.length);
    expect([bench.readiness, bench.lines, bench.events]).toEqual([{}, [], []]);
    expect(await bench.metric('multinic_rights_missing')).toBe('multinic_rights_missing 0');
    expect(await bench.metric('multinic_crd_schema_behind')).toMatch(/ 0$/);
    bench.stop.abort(new Error('stop'));
    await bench.done;
  });

  it('self-check sends no requests when disabled', async () => {
    const bench = new Bench({ selfCheck: false });
    await bench.clock.advance(20 * minute);
    expect([bench.done, bench.requested, bench.readiness]).toEqual([undefined, [], {}]);
    expect(await bench.metric('multinic_rights_missing')).toBeUndefined();
  });
});

describe('self-check with missing rights', () => {
  it('[RW-58] self-check keeps the part ready until the answer, then reports right, role and command everywhere', async () => {
    const bench = new Bench();
    bench.refuse('get batch jobs/status  ', 'patch batch jobs/status  ', 'patch  secrets ns a');
    expect(bench.readiness).toEqual({});
    await bench.clock.advance(0);
    expect(bench.readiness).toEqual({
      rights:
        'missing right: get, patch jobs.batch/status in any namespace (ClusterRole wide), and 1 more; the log has a kubectl command for each',
    });
    expect(bench.logged('error')).toMatchObject([
      {
        reason: 'RightsMissing',
        what: 'get, patch jobs.batch/status in any namespace',
        role: 'ClusterRole wide',
        fix: "kubectl patch clusterrole wide --type=json -p '[{op: add, path: /rules/-, value: {apiGroups: [batch], resources: [jobs/status], verbs: [get, patch]}}]'",
        why: why.en,
        msg: 'missing right: get, patch jobs.batch/status in any namespace',
      },
      {
        what: 'patch secrets "a" in ns',
        role: 'Role narrow in ns',
        fix: 'kubectl patch role narrow -n ns --type=json -p \'[{op: add, path: /rules/-, value: {apiGroups: [""], resources: [secrets], resourceNames: [a], verbs: [patch]}}]\'',
      },
    ]);
    expect(await bench.metric('multinic_rights_missing')).toBe('multinic_rights_missing 2');
    expect(bench.events).toMatchObject([
      {
        type: 'Warning',
        reason: 'RightsMissing',
        involvedObject: { kind: 'Pod', namespace: 'ns', name: 'me-1', uid: 'u' },
        message: expect.stringContaining('missing right: get, patch jobs.batch/status') as unknown,
      },
    ]);
  });

  it('self-check restores readiness within 30 seconds after the right was granted, without a restart', async () => {
    const bench = new Bench();
    bench.refuse('get  secrets ns a');
    await bench.clock.advance(0);
    bench.refuse();
    await bench.clock.advance(31_000);
    expect(bench.readiness).toEqual({});
    expect(bench.logged('info')).toMatchObject([{ what: 'get secrets "a" in ns' }]);
    expect(await bench.metric('multinic_rights_missing')).toBe('multinic_rights_missing 0');
  });

  it("self-check logs a missing right once and keeps updating the Pod's Event", async () => {
    const bench = new Bench();
    bench.refuse('get  secrets ns a');
    await bench.clock.advance(11 * minute);
    expect(bench.logged('error')).toHaveLength(1);
    // The recorder writes at most once in five minutes.
    expect(bench.events.map((event) => event['count'])).toEqual([1, 11, 21]);
  });

  it('self-check logs only newly lost rights', async () => {
    const bench = new Bench();
    bench.refuse('get  secrets ns a');
    await bench.clock.advance(0);
    bench.refuse('get  secrets ns a', 'patch batch jobs/status  ');
    await bench.clock.advance(31_000);
    expect(bench.logged('error').map((line) => line['what'])).toEqual([
      'get secrets "a" in ns',
      'patch jobs.batch/status in any namespace',
    ]);
  });

  it('self-check logs a warning when the Event cannot be written', async () => {
    const bench = new Bench();
    bench.mayWriteEvents = false;
    bench.refuse('get  secrets ns a');
    await bench.clock.advance(0);
    expect(bench.logged('warn')).toMatchObject([
      { msg: 'Event about missing rights or CRD not written', err: { message: '403 Forbidden' } },
    ]);
  });

  it('self-check writes no Event when the Pod is unknown', async () => {
    const bench = new Bench({ pod: undefined });
    bench.refuse('get  secrets ns a');
    await bench.clock.advance(0);
    expect([bench.events, bench.logged('error').length]).toEqual([[], 1]);
  });
});

describe('self-check with unknown rights', () => {
  it.each([
    ['does not answer', error(0, 'Unreachable'), 1],
    ['is busy', error(429, 'TooManyRequests'), 1],
    ['is unavailable', error(503, 'ServiceUnavailable'), 1],
    ['refuses access reviews', error(403, 'Forbidden'), 20],
    ['does not support access reviews', error(404, 'NotFound'), 20],
  ])(
    'self-check keeps the part ready and logs one warning when the API server %s',
    async (_, answer, minutes) => {
      const bench = new Bench();
      bench.answer = () => answer;
      await bench.clock.advance(0);
      // Only the two running requests were sent.
      expect(bench.requested).toHaveLength(2);
      expect([bench.readiness, bench.logged('error'), bench.events]).toEqual([{}, [], []]);
      expect(bench.logged('warn')).toHaveLength(1);
      expect(await bench.metric('multinic_rights_missing')).toBeUndefined();
      bench.refuse();
      await bench.clock.advance(minutes * minute);
      expect(await bench.metric('multinic_rights_missing')).toBe('multinic_rights_missing 0');
    },
  );

  it('self-check keeps the part ready and logs one timeout warning when the API server hangs', async () => {
    const bench = new Bench();
    bench.answer = () => 'nothing';
    await bench.clock.advance(6_000);
    expect([bench.requested.length, bench.readiness]).toEqual([2, {}]);
    expect(bench.logged('warn')).toMatchObject([{ err: { message: 'no answer within 5 s' } }]);
    await bench.clock.advance(20 * minute);
    expect(bench.logged('warn'), 'the same warning is logged once').toHaveLength(1);
  });

  it('self-check treats an undecided answer as not missing', async () => {
    const bench = new Bench();
    bench.answer = () => 'undecided';
    await bench.clock.advance(0);
    expect([bench.readiness, bench.lines]).toEqual([{}, []]);
  });

  it('self-check keeps a missing right while the API server is unreachable', async () => {
    const bench = new Bench();
    bench.refuse('get  secrets ns a');
    await bench.clock.advance(0);
    bench.answer = () => error(0, 'Unreachable');
    await bench.clock.advance(2 * minute);
    expect(Object.keys(bench.readiness)).toEqual(['rights']);
    bench.refuse();
    await bench.clock.advance(minute);
    expect(bench.readiness).toEqual({});
  });

  it('self-check logs an internal error and keeps the part running', async () => {
    const bench = new Bench();
    bench.answer = () => {
      throw new TypeError('a bug');
    };
    await bench.clock.advance(0);
    expect(bench.logged('error')).toMatchObject([{ msg: 'self-check failed' }]);
    bench.stop.abort(new Error('stop'));
    await expect(bench.done).resolves.toBeUndefined();
  });
});

describe('self-check and the CRD', () => {
  it.each([
    ['0', `is too old (schema 0, this version expects ${current})`],
    ['no number', 'is too old'],
    [undefined, 'is not installed'],
  ])(
    'a CRD with schema %s makes the part unready, with the kubectl command',
    async (schema, flaw) => {
      const bench = new Bench();
      bench.schema = schema;
      await bench.clock.advance(0);
      const { crd } = bench.readiness;
      expect(crd).toContain(`CustomResourceDefinition ${definition} ${flaw}`);
      expect(crd).toContain('-f deploy/crds/multinic.io_multinicnodeconfigs.yaml');
      expect(bench.logged('error')).toMatchObject([{ reason: 'CRDTooOld', msg: crd }]);
      expect(bench.events).toMatchObject([{ reason: 'CRDTooOld', message: crd }]);
      expect(await bench.metric('multinic_crd_schema_behind')).toMatch(new RegExp(` ${current}$`));
      bench.schema = String(current);
      await bench.clock.advance(31_000);
      expect(bench.readiness).toEqual({});
      expect(bench.logged('info')).toHaveLength(1);
    },
  );

  it('a newer CRD is reported by log, Event and metric; the part stays ready', async () => {
    const bench = new Bench();
    bench.schema = String(current + 2);
    await bench.clock.advance(5 * minute);
    expect(bench.readiness).toEqual({});
    expect(bench.logged('warn')).toMatchObject([{ reason: 'CRDTooNew' }]);
    expect(bench.events).toMatchObject([{ reason: 'CRDTooNew' }]);
    expect(await bench.metric('multinic_crd_schema_behind')).toMatch(/ -2$/);
    expect(bench.requested).toHaveLength(all.length);
  });

  it('a missing CRD is reported even if access reviews are forbidden', async () => {
    const bench = new Bench();
    bench.schema = undefined;
    bench.answer = () => error(403, 'Forbidden');
    await bench.clock.advance(0);
    expect(bench.readiness).toEqual({ crd: expect.stringContaining('is not installed') as string });
  });

  it('the CRD is not read while the API server is unavailable', async () => {
    const bench = new Bench();
    bench.schema = undefined;
    bench.answer = () => error(503, 'ServiceUnavailable');
    await bench.clock.advance(0);
    expect(bench.readiness).toEqual({});
  });

  it('an unreadable CRD counts neither as old nor as missing', async () => {
    const bench = new Bench();
    bench.schema = error(403, 'Forbidden');
    await bench.clock.advance(0);
    expect([bench.readiness, bench.lines]).toEqual([{}, []]);
    expect(await bench.metric('multinic_crd_schema_behind')).toBeUndefined();
  });
});
