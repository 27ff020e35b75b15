import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type ApiServer, startApiServer } from '../../rig/apiserver/server.ts';
import { about } from '../../test/fixtures/about.ts';
import { crdDefinitions } from '../api/crd/definition.ts';
import type { Effect } from '../api/effects.ts';
import { metricTable } from '../api/metrics.ts';
import type { MultiNicOperatorStatus } from '../api/multinicoperator.ts';
import { managedObjects } from '../api/names.ts';
import { createKubeClient } from '../kube/client/http-client.ts';
import {
  claims,
  configMaps,
  deployments,
  namespaces,
  statefulSets,
  validatingWebhookConfigurations,
} from '../kube/core-resources.ts';
import { createPerform } from '../process/effects.ts';
import { createHealth } from '../process/health.ts';
import { createLogger } from '../process/log.ts';
import { createMetrics, type Metrics } from '../process/metrics.ts';
import { readSettings } from '../process/settings.ts';
import { aborted } from '../time/aborted.ts';
import { systemClock, systemRandom } from '../time/clock.ts';
import { multiNicOperators, statusOf } from './model/multinicoperator.ts';
import { lifecycleSettings } from './settings.ts';
import { data } from './stages/managed-controller/testing/scene.ts';
import type { Webhook } from './stages/protection/webhook.ts';
import { wireLifecycle } from './wiring.ts';

const namespace = 'multinic-system';
const ref = { namespace, name: 'production-system' };
const triggersRef = { namespace, name: 'multinic-operator-triggers' };
const generous = { timeout: 30_000 };

let api: ApiServer;
let admin: ReturnType<typeof createKubeClient>;
let stop: AbortController;
let running: Promise<void>;
let effects: Effect[];
let metrics: Metrics<typeof metricTable>;

/** A webhook with a CA that answers. */
const webhook: Webhook = {
  access: { authorities: 'PEM', user: `system:serviceaccount:${namespace}:multinic-operator` },
  answers: true,
  onChange: () => undefined,
  keepCertificates: aborted,
  serve: aborted,
};

beforeEach(async () => {
  api = await startApiServer({ crds: Object.values(crdDefinitions()) });
  const { access } = api;
  admin = createKubeClient(access, { clock: systemClock, random: systemRandom });
  await admin.create(namespaces, { metadata: { name: namespace } });
  await admin.create(configMaps, {
    metadata: { namespace, name: managedObjects.controllerBase },
    data,
  });
  effects = [];
  start();
});

function start(): void {
  stop = new AbortController();
  metrics = createMetrics(metricTable);
  const { lead } = wireLifecycle({
    client: admin,
    settings: readSettings(lifecycleSettings, { env: {}, flags: {} }),
    context: {
      clock: systemClock,
      random: systemRandom,
      log: createLogger({ part: 'test', level: 'silent' }),
      metrics,
      health: createHealth(),
      about,
      exit: () => undefined,
    },
    perform: createPerform<Effect>((effect, phase) => {
      if (phase === 'before') effects.push(effect);
    }),
    webhook,
    kubernetesMinor: 37,
  });
  running = lead(stop.signal);
}

async function stopped(): Promise<void> {
  stop.abort(new Error('stop'));
  await running;
}

afterEach(async () => {
  await stopped();
  await admin[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
});

async function status(): Promise<MultiNicOperatorStatus> {
  return statusOf(await admin.get(multiNicOperators, ref));
}

const until = (check: () => Promise<void>) => vi.waitFor(check, generous);

describe('lifecycle with an API server', () => {
  it('lifecycle carries out every stage except the stage with an unusable field', async () => {
    await admin.create(multiNicOperators, {
      metadata: ref,
      spec: {
        database: { enabled: true, storageSize: 'lots' },
        reconcileTrigger: { mode: 'manual' },
      },
    });
    await until(async () => {
      expect(await status()).toMatchObject({ phase: 'Error' });
      expect(await admin.find(configMaps, triggersRef)).toBeDefined();
      expect(
        await admin.find(deployments, { namespace, name: 'multinic-controller' }),
      ).toBeDefined();
    });
    expect((await status()).message).toContain('spec.database.storageSize "lots"');
    expect(await admin.find(statefulSets, { namespace, name: 'mariadb' })).toBeUndefined();

    const corrected = { spec: { database: { storageSize: '5Gi' }, reconcileTrigger: null } };
    await admin.patch(multiNicOperators, ref, corrected);
    await until(async () => {
      expect(await admin.find(statefulSets, { namespace, name: 'mariadb' })).toBeDefined();
      expect(
        await admin.find(claims, { namespace, name: managedObjects.databaseClaim }),
      ).toBeDefined();
      expect(await admin.find(configMaps, triggersRef)).toBeUndefined();
      expect(await status()).toMatchObject({ phase: 'Pending', observedGeneration: 2 });
    });
  });

  it('lifecycle retries a stage refused by the API server', async () => {
    const refused = { verb: 'patch', resource: 'configmaps', name: triggersRef.name } as const;
    api.faults.answer({ ...refused, status: 403, message: 'exceeded quota', times: 4 });
    await admin.create(multiNicOperators, {
      metadata: ref,
      spec: { reconcileTrigger: { mode: 'manual' } },
    });
    await until(async () => {
      expect(await admin.find(configMaps, triggersRef)).toBeDefined();
      expect(await status()).toMatchObject({ phase: 'Pending' });
    });
  });

  it.each([
    {
      what: 'a user deletes the foreign ConfigMap that blocks it',
      before: async () => {
        await admin.create(configMaps, { metadata: triggersRef, data: {} });
      },
      fix: async () => admin.delete(configMaps, triggersRef),
      spec: { reconcileTrigger: { mode: 'manual' } },
      done: async () => admin.find(configMaps, triggersRef),
    },
    {
      what: 'the API server accepts the claim again',
      before: async () => {
        const claim = { resource: 'persistentvolumeclaims', name: managedObjects.databaseClaim };
        const fault = { status: 403, message: 'exceeded quota', times: 4 };
        api.faults.answer({ ...claim, verb: 'patch', ...fault });
      },
      fix: async () => undefined,
      spec: { database: { enabled: true } },
      done: async () => admin.find(claims, { namespace, name: managedObjects.databaseClaim }),
    },
  ])('lifecycle continues a stage when $what', async ({ before, fix, spec, done }) => {
    await before();
    await admin.create(multiNicOperators, { metadata: ref, spec });
    await until(async () => expect(await status()).toMatchObject({ phase: 'Error' }));
    await systemClock.sleep(300);
    await fix();
    await until(async () => {
      expect(await done()).toBeDefined();
      expect(await status()).toMatchObject({ phase: 'Pending' });
    });
  });

  it('lifecycle backs off when each refusal has different text', async () => {
    const refused = { verb: 'patch', resource: 'configmaps', name: triggersRef.name } as const;
    for (let port = 1; port < 500; port++) {
      api.faults.answer({ ...refused, status: 500, message: `read tcp 10.0.0.1:${port}` });
    }
    await admin.create(multiNicOperators, {
      metadata: ref,
      spec: { reconcileTrigger: { mode: 'manual' } },
    });
    const tries = () =>
      api.audit.filter(({ name, verb }) => verb === 'patch' && name === triggersRef.name).length;
    await until(async () => expect(await status()).toMatchObject({ phase: 'Error' }));
    await systemClock.sleep(3_000);
    expect(tries()).toBeGreaterThan(1);
    expect(tries()).toBeLessThan(15);
  });

  it('lifecycle deletes the webhook configuration of a MultiNicOperator whose finalizers a user removed', async () => {
    const protection = { name: managedObjects.protection };
    const spec = { protection: { enableMutationPrevention: true } };
    await admin.create(multiNicOperators, { metadata: ref, spec });
    const configuration = () => admin.find(validatingWebhookConfigurations, protection);
    await until(async () => expect(await configuration()).toBeDefined());
    await stopped();
    await admin.patch(multiNicOperators, ref, { metadata: { finalizers: [] } });
    await admin.delete(multiNicOperators, ref);
    start();
    await until(async () => expect(await configuration()).toBeUndefined());
  });

  it('lifecycle recreates an object deleted while recovery was off, when the spec requests the object again', async () => {
    const trigger = { mode: 'manual' };
    const spec = { protection: { enableAutoRecovery: false }, reconcileTrigger: trigger };
    await admin.create(multiNicOperators, { metadata: ref, spec });
    const map = () => admin.find(configMaps, triggersRef);
    await until(async () => expect(await map()).toBeDefined());
    await admin.delete(configMaps, triggersRef);
    const drifted = { type: 'Drifted', status: 'True' };
    await until(async () =>
      expect((await status()).conditions).toContainEqual(expect.objectContaining(drifted)),
    );
    await admin.patch(multiNicOperators, ref, { spec: { reconcileTrigger: null } });
    await until(async () => expect(await status()).toMatchObject({ observedGeneration: 2 }));
    expect(await map()).toBeUndefined();
    await admin.patch(multiNicOperators, ref, { spec: { reconcileTrigger: trigger } });
    await until(async () => expect(await map()).toBeDefined());
  });

  it('lifecycle writes nothing while nothing changes', async () => {
    await admin.create(multiNicOperators, { metadata: ref, spec: { database: { enabled: true } } });
    await until(async () => expect(await status()).toMatchObject({ phase: 'Pending' }));
    await until(async () => {
      effects.length = 0;
      // Trigger a reconcile by a foreign annotation.
      const metadata = { annotations: { 'example.com/note': String(Math.random()) } };
      const before = await reconciles();
      await admin.patch(multiNicOperators, ref, { metadata });
      await until(async () => expect(await reconciles()).toBeGreaterThan(before));
      expect(effects).toEqual([]);
    });
  });
});

async function reconciles(): Promise<number> {
  const text = await metrics.registry.getSingleMetricAsString('multinic_operator_reconcile_total');
  return Number(/result="success"\} (\d+)/.exec(text)?.[1] ?? 0);
}
