import { request as httpsRequest } from 'node:https';
import { connect } from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ApiServer, startApiServer } from '../../../../rig/apiserver/server.ts';
import { freePorts } from '../../../../rig/parts/free-ports.ts';
import { crdDefinitions } from '../../../api/crd/definition.ts';
import type { Effect } from '../../../api/effects.ts';
import { metricTable } from '../../../api/metrics.ts';
import { authoritiesIn } from '../../../certificates/certificate.ts';
import type { KubeClient } from '../../../kube/client/client.ts';
import { createKubeClient } from '../../../kube/client/http-client.ts';
import {
  events,
  namespaces,
  secrets,
  validatingWebhookConfigurations,
} from '../../../kube/core-resources.ts';
import type { KubeObject, ObjectRef } from '../../../kube/object.ts';
import { together } from '../../../kube/reconcile/together.ts';
import type { Resource } from '../../../kube/resource.ts';
import { createPerform } from '../../../process/effects.ts';
import { createHealth, type Health } from '../../../process/health.ts';
import { createLogger } from '../../../process/log.ts';
import { createMetrics } from '../../../process/metrics.ts';
import { type Clock, systemClock, systemRandom } from '../../../time/clock.ts';
import type { ProtectionWanted } from '../../model/accepted.ts';
import { multiNicOperators, statusOf } from '../../model/multinicoperator.ts';
import { createWebhook } from './create-webhook.ts';
import type { Webhook } from './webhook.ts';

const namespace = 'multinic-system';
const operator = { namespace, name: 'production' };
const [ca, certificate] = ['multinic-webhook-ca', 'multinic-webhook-tls'];
const wanted: ProtectionWanted = { preventsMutations: true, recovers: true, allowed: new Set() };
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

let api: ApiServer;
let client: KubeClient;
const replicas: Replica[] = [];

beforeAll(async () => {
  api = await startApiServer({ crds: Object.values(crdDefinitions()) });
  client = createKubeClient(api.access, { clock: systemClock });
  await client.create(namespaces, { metadata: { name: namespace } });
});
afterAll(async () => {
  await client[Symbol.asyncDispose]();
  await api.close();
});
beforeEach(async () => {
  await client.create(multiNicOperators, { metadata: operator, spec: {} });
});
afterEach(async () => {
  for (const one of replicas.splice(0)) await one.stop();
  await clear(multiNicOperators, operator);
  for (const name of [ca, certificate]) await clear(secrets, { namespace, name });
  await clear(validatingWebhookConfigurations, { name: 'multinic-protection' });
});

/** Deletes an object created by some tests. */
async function clear(resource: Resource<KubeObject>, ref: ObjectRef): Promise<void> {
  if (await client.find(resource, ref)) await client.delete(resource, ref);
}

interface Replica {
  readonly webhook: Webhook;
  readonly health: Health;
  readonly effects: readonly string[];
  readonly port: number;
  stop(): Promise<void>;
}

/** Starts a replica whose wall clock is ahead by `aheadMs`. */
async function replica({ leads = true, aheadMs = 0, drainMs = 0 } = {}): Promise<Replica> {
  const [port = 0] = await freePorts(1);
  const clock: Clock = { ...systemClock, now: () => new Date(Date.now() + aheadMs) };
  const health = createHealth();
  const effects: string[] = [];
  const context = {
    clock,
    random: systemRandom,
    log: createLogger({ part: 'test', level: 'fatal' }),
    metrics: createMetrics(metricTable),
    health,
    about: {} as never,
    exit: () => undefined,
  };
  const webhook = createWebhook({
    client,
    settings: {
      namespace,
      serviceAccount: 'multinic-operator',
      webhookListen: { host: '127.0.0.1', port },
      webhookUrl: undefined,
    },
    context,
    perform: createPerform<Effect>(
      (effect, phase) => void (phase === 'after' && effects.push(effect)),
    ),
    accept: () => ({ protection: { value: wanted } }),
    drainMs,
  });
  const end = new AbortController();
  const running = together(end.signal, clock, {
    serve: async (signal) => webhook.serve(signal),
    ...(leads ? { certificates: async (signal) => webhook.keepCertificates(signal) } : {}),
  });
  const started = {
    webhook,
    health,
    effects,
    port,
    async stop(): Promise<void> {
      end.abort(new Error('stopped'));
      await running;
    },
  };
  replicas.push(started);
  return started;
}

async function answering(options?: Parameters<typeof replica>[0]): Promise<Replica> {
  const started = await replica(options);
  await expect.poll(() => started.webhook.answers).toBe(true);
  return started;
}

const labels = { 'multinic.example.com/protected': 'true' };

/** Returns how often the webhook configuration was read by name. */
function configurationReads(): number {
  return api.audit.filter(
    ({ verb, resource }) => verb === 'get' && resource === 'validatingwebhookconfigurations',
  ).length;
}

/** Returns the response to deleting a managed object, with TLS verified as the API server does. */
async function review({ port }: Replica, change: object = {}): Promise<unknown> {
  const text = JSON.stringify({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: 'u1',
      operation: 'DELETE',
      resource: { group: '', version: 'v1', resource: 'services' },
      name: 'mariadb',
      namespace,
      userInfo: { username: 'jane' },
      oldObject: { metadata: { labels } },
      ...change,
    },
  });
  const authorities = await data(certificate, 'ca.crt');
  return new Promise((resolve, reject) => {
    const options = {
      host: '127.0.0.1',
      port,
      path: '/validate-multinic-protection?timeout=3s',
      method: 'POST',
      ca: authorities,
      servername: 'multinic-operator-webhook.multinic-system.svc',
      headers: { 'content-type': 'application/json' },
    };
    const sent = httpsRequest(options, (response) => {
      let body = '';
      response.on('data', (chunk: Buffer) => (body += chunk.toString()));
      response.on('end', () => resolve(JSON.parse(body)));
    });
    sent.on('error', reject);
    sent.end(text);
  });
}

async function data(name: string, key: string): Promise<string> {
  const found = await client.find(secrets, { namespace, name });
  return Buffer.from(found?.data?.[key] ?? '', 'base64').toString();
}

/** Returns the certificate presented to a new connection. */
async function shown({ port }: Replica): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerX509Certificate()?.fingerprint256 ?? '');
      socket.destroy();
    });
    socket.on('error', reject);
  });
}

const base64 = (text = '') => Buffer.from(text).toString('base64');
const counted = async () =>
  statusOf(await client.get(multiNicOperators, operator)).protectionStatus?.preventedMutations;

describe('the webhook', () => {
  it('the webhook refuses with a reason, and answers allowed requests', async () => {
    const one = await answering();
    expect(await review(one)).toMatchObject({
      apiVersion: 'admission.k8s.io/v1',
      response: {
        uid: 'u1',
        allowed: false,
        status: {
          code: 403,
          reason: 'Forbidden',
          message: expect.stringContaining("MultiNicOperator 'production'") as unknown,
        },
      },
    });
    const kept = { oldObject: { metadata: {} } };
    expect(await review(one, kept)).toMatchObject({ response: { uid: 'u1', allowed: true } });
    expect(await review(one, { operation: 'EAT' })).toMatchObject({ status: 400 });
  });

  it('the webhook answers after the stop signal while endpoints drain', async () => {
    const started = await answering({ drainMs: 1_000 });
    const stopped = started.stop();
    await systemClock.sleep(500);
    expect(await review(started)).toMatchObject({ response: { allowed: false } });
    await stopped;
    await expect(review(started)).rejects.toThrow('ECONNREFUSED');
  });

  it('refusals in all replicas are counted without dry runs, and none is lost on stop', async () => {
    const leader = await answering();
    const other = await answering({ leads: false });
    const both = [leader, other];
    for (let round = 0; round < 10; round++)
      await Promise.all(both.map(async (one) => review(one)));
    await review(leader, { dryRun: true });
    for (const one of both) await one.stop();
    expect(await counted()).toBe(20);
    for (const one of both) {
      // The first write is immediate, further refusals are written together a second later or on stop.
      expect(
        one.effects.filter((effect) => effect === 'lifecycle.refusals.write').length,
      ).toBeLessThan(5);
    }
    const { items } = await client.list(events, { namespace });
    expect(items.find(({ reason }) => reason === 'MutationPrevented')?.message).toBe(
      'DELETE of services mariadb by jane refused',
    );
  });

  it('a replica without a certificate is ready only while nothing is protected', async () => {
    await client.delete(multiNicOperators, operator);
    const { health } = await replica({ leads: false });
    expect(health.readiness().ok).toBe(true);
    await client.create(multiNicOperators, { metadata: operator, spec: {} });
    await expect.poll(() => Object.keys(health.readiness().failing)).toEqual(['webhook']);
    await answering();
    await expect.poll(() => health.readiness().ok).toBe(true);
  });
});

describe('the webhook certificate', () => {
  it('a foreign certificate Secret blocks issuing, with a message naming the Secret and the fix', async () => {
    const metadata = { namespace, name: certificate };
    await client.create(secrets, { metadata, type: 'Opaque' });
    const { webhook } = await replica();
    await expect
      .poll(() => webhook.access.trouble)
      .toMatch(/^Secret multinic-webhook-tls was not created by lifecycle .* delete it/);
    await client.delete(secrets, metadata);
    await expect.poll(() => webhook.answers).toBe(true);
    expect(webhook.access.trouble).toBeUndefined();
  });

  it('a deleted certificate Secret is reissued, and every replica serves the new certificate', async () => {
    const leader = await answering();
    const other = await answering({ leads: false });
    const before = await shown(leader);
    await client.delete(secrets, { namespace, name: certificate });
    await expect.poll(async () => shown(leader)).not.toBe(before);
    const now = await shown(leader);
    await expect.poll(async () => shown(other)).toBe(now);
    await expect.poll(() => leader.webhook.answers && other.webhook.answers).toBe(true);
  });

  it.each([
    ['stays', 'three hours ahead', 3 * hourMs, false],
    ['stays', 'three hours behind', -3 * hourMs, false],
    ['is renewed', 'a month before its end', 61 * dayMs, true],
    ['is replaced', 'after its end', 91 * dayMs, true],
    ['is replaced', 'before its beginning', -2 * dayMs, true],
  ])('the certificate %s with the clock %s', async (_what, _when, aheadMs, isNew) => {
    const first = await answering();
    const before = await shown(first);
    await first.stop();
    const later = await replica({ aheadMs });
    await expect.poll(() => later.webhook.access.authorities).toBeDefined();
    await expect.poll(async () => (await shown(later)) !== before).toBe(isNew);
    expect(authoritiesIn(later.webhook.access.authorities)).toHaveLength(aheadMs < -dayMs ? 2 : 1);
  });

  it("a new CA's certificate is served only after the configuration trusts the new CA", async () => {
    const first = await answering();
    const before = await shown(first);
    const configure = async (authorities: string | undefined) =>
      client.apply(
        validatingWebhookConfigurations,
        {
          metadata: { name: 'multinic-protection' },
          webhooks: [{ name: 'a.example.com', clientConfig: { caBundle: base64(authorities) } }],
        },
        { fieldManager: 'test', force: true },
      );
    await configure(first.webhook.access.authorities);
    await first.stop();
    await client.delete(secrets, { namespace, name: ca });
    // The earlier CA's certificate stays trusted until its renewal.
    const leader = await replica({ aheadMs: 61 * dayMs });
    await expect.poll(() => authoritiesIn(leader.webhook.access.authorities).length).toBe(2);
    await expect.poll(() => leader.webhook.answers).toBe(true);
    const from = configurationReads();
    await expect.poll(configurationReads).toBeGreaterThan(from + 1);
    expect(await shown(leader)).toBe(before);
    await configure(leader.webhook.access.authorities);
    await expect.poll(async () => shown(leader)).not.toBe(before);
  });
});
