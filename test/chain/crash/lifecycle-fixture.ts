import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, fetch } from 'undici';
import { stringify } from 'yaml';
import { startApiServer } from '../../../rig/apiserver/server.ts';
import { freePorts } from '../../../rig/parts/free-ports.ts';
import { mortalEnv } from '../../../rig/parts/mortal.ts';
import { lifecyclePart } from '../../../rig/parts/parts.ts';
import { Supervisor } from '../../../rig/parts/supervisor.ts';
import { crdDefinitions } from '../../../src/api/crd/definition.ts';
import { annotations, labels, managedObjects, namespaces } from '../../../src/api/names.ts';
import { createKubeClient } from '../../../src/kube/client/http-client.ts';
import {
  claims,
  configMaps,
  deployments,
  jobs,
  namespaces as namespaceKind,
  pods,
  secrets,
  validatingWebhookConfigurations,
} from '../../../src/kube/core-resources.ts';
import { isNotFound } from '../../../src/kube/errors.ts';
import type { KubeObject } from '../../../src/kube/object.ts';
import { multiNicOperators } from '../../../src/lifecycle/multinicoperator.ts';
import { systemClock as clock, systemRandom as random } from '../../../src/time/clock.ts';

export const namespace = namespaces.system;
const name = 'production-system';

/** What the chart renders of the operator, as far as lifecycle changes it. */
const base = {
  deployment: {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: managedObjects.controller, namespace },
    spec: {
      replicas: 1,
      selector: { matchLabels: { 'app.kubernetes.io/name': 'multinic-operator' } },
      template: {
        metadata: { labels: { 'app.kubernetes.io/name': 'multinic-operator' } },
        spec: { containers: [{ name: 'operator', image: 'multinic:v1', env: [] }] },
      },
    },
  },
};

/** An administrator deletes the Deployment of the operator. */
const review = {
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  request: {
    uid: 'one',
    operation: 'DELETE',
    resource: { group: 'apps', version: 'v1', resource: 'deployments' },
    name: managedObjects.controller,
    namespace,
    userInfo: { username: 'admin', groups: ['system:masters'] },
    oldObject: {
      metadata: {
        name: managedObjects.controller,
        namespace,
        labels: { [labels.protected]: 'true', [labels.managedByOperator]: name },
      },
    },
  },
};

/** Kinds whose objects lifecycle makes. */
const made = [
  'deployments.apps',
  'statefulsets.apps',
  'services',
  'persistentvolumeclaims',
  'cronjobs.batch',
  'jobs.batch',
  'poddisruptionbudgets.policy',
  'configmaps',
  'secrets',
  'validatingwebhookconfigurations.admissionregistration.k8s.io',
];

export type LifecycleFixture = Awaited<ReturnType<typeof openLifecycleFixture>>;

/** Lifecycle as a process beside an embedded API server, and a chart's rendering of the operator. */
export async function openLifecycleFixture() {
  await using stack = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'multinic-kills-'));
  stack.defer(() => rm(directory, { recursive: true }));
  const server = stack.use(await startApiServer({ crds: Object.values(crdDefinitions()) }));
  const client = stack.use(createKubeClient(server.access, { clock, random, userAgent: 'test' }));
  await client.create(namespaceKind, { metadata: { name: namespace } });
  const kubeconfig = join(directory, 'kubeconfig');
  await writeFile(kubeconfig, await server.kubeconfig());
  const [port = 0, webhookPort = 0] = await freePorts(2);
  const parts = stack.use(new Supervisor(directory, clock));
  const env = { ...mortalEnv, LOG_LEVEL: 'debug', LEASE_DURATION: '4s', POD_NAMESPACE: namespace };
  await parts.start(
    lifecyclePart({ kubeconfig, port, webhookPort, clock, logLevel: 'debug', env }),
  );
  const ref = { namespace, name };
  const kept = stack.move();
  return {
    parts,
    server,
    client,
    webhookPort,
    ref,
    /** The chart's ConfigMap, a legacy operator that runs, and a MultiNicOperator that takes it over. */
    async install(): Promise<void> {
      const data = Object.fromEntries(
        Object.entries(base).map(([key, object]) => [`${key}.yaml`, stringify(object)]),
      );
      await client.apply(
        configMaps,
        { metadata: { name: managedObjects.controllerBase, namespace }, data },
        { fieldManager: 'helm', force: true },
      );
      await client.apply(
        deployments,
        {
          metadata: { name: managedObjects.legacyController, namespace },
          spec: { replicas: 1, selector: { matchLabels: { app: 'legacy' } } },
        },
        { fieldManager: 'legacy', force: true },
      );
      await client.create(multiNicOperators, {
        metadata: { ...ref, annotations: { 'multinic.io/take-over': 'yes' } },
        spec: {
          database: { enabled: true },
          protection: { enableMutationPrevention: true },
          reconcileTrigger: { mode: 'manual' },
        },
      });
    },
    /** Has the webhook refuse a change, as the API server asks it to; false: it does not answer yet. */
    async refuse(): Promise<boolean> {
      const configuration = await client.find(validatingWebhookConfigurations, {
        name: managedObjects.protection,
      });
      const { url, caBundle = '' } = configuration?.webhooks?.[0]?.clientConfig ?? {};
      if (url === undefined) return false;
      const dispatcher = new Agent({ connect: { ca: Buffer.from(caBundle, 'base64') } });
      try {
        const headers = { 'content-type': 'application/json' };
        const body = JSON.stringify(review);
        const answer = await fetch(url, { method: 'POST', headers, body, dispatcher });
        const { response } = (await answer.json()) as { response?: { allowed: boolean } };
        return response?.allowed === false;
      } catch {
        return false;
      } finally {
        await dispatcher.close();
      }
    },
    /** MariaDB runs, as far as lifecycle sees it: this server has no controller of StatefulSets. */
    async startMariadb(): Promise<void> {
      const metadata = {
        name: 'mariadb-0',
        namespace,
        labels: { app: managedObjects.database, [labels.managedByOperator]: name },
      };
      const container = { name: managedObjects.database, image: 'mariadb:10.11' };
      await client.create(pods, { metadata, spec: { containers: [container] } });
      await client.patchStatus(pods, metadata, {
        status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
      });
    },
    /** Deletes what stays of an installation. */
    async clear(): Promise<void> {
      for (const kind of [jobs, pods, claims, secrets, configMaps, deployments]) {
        for (const { metadata } of (await client.listAll<KubeObject>(kind, { namespace })).items)
          await client.delete<KubeObject>(kind, metadata).catch((error: unknown) => {
            // The garbage collector deletes the Pods of a Job, too.
            if (!isNotFound(error)) throw error;
          });
      }
    },
    async annotate(values: Readonly<Record<string, string>>): Promise<void> {
      await client.patch(multiNicOperators, ref, { metadata: { annotations: values } });
    },
    /** All that lifecycle made, without what differs from life to life. */
    objects(): Readonly<Record<string, unknown>> {
      const all = made.flatMap((kind) =>
        server
          .objects(kind)
          .map((object) => [withoutRandom(`${kind} ${object.metadata.name}`), plain(object)]),
      );
      return Object.fromEntries(all) as Record<string, unknown>;
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** Without identities, times, certificates and what is made of random passwords. */
function plain(
  object: KubeObject & { readonly data?: object; readonly status?: unknown },
): unknown {
  const { metadata, data, status: _, ...rest } = object;
  const { labels: kept, annotations: all = {}, finalizers } = metadata;
  const shown = object.kind === 'Secret' ? Object.keys(data ?? {}).toSorted() : data;
  const ours = Object.entries(all).filter(([key]) => key !== annotations.applied);
  const whole = { ...rest, data: shown, labels: kept, annotations: Object.fromEntries(ours) };
  return JSON.parse(withoutRandom(JSON.stringify({ ...whole, finalizers })));
}

function withoutRandom(text: string): string {
  return text
    .replaceAll(/("(?:caBundle|multinic\.io\/credentials)":)"[^"]*"/g, '$1"…"')
    .replaceAll(/(mariadb-restore)-[0-9a-f]+/g, '$1')
    .replaceAll(/("(?:batch\.kubernetes\.io\/)?controller-uid":)"[^"]*"/g, '$1"…"');
}
