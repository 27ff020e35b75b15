import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { startApiServer } from '../../../rig/apiserver/server.ts';
import { freePorts } from '../../../rig/parts/free-ports.ts';
import { mortalEnv } from '../../../rig/parts/mortal.ts';
import { lifecyclePart } from '../../../rig/parts/parts.ts';
import { Supervisor } from '../../../rig/parts/supervisor.ts';
import { crdDefinitions } from '../../../src/api/crd/definition.ts';
import { annotations, managedObjects, namespaces } from '../../../src/api/names.ts';
import { createKubeClient } from '../../../src/kube/client/http-client.ts';
import {
  configMaps,
  deployments,
  namespaces as namespaceKind,
  validatingWebhookConfigurations,
} from '../../../src/kube/core-resources.ts';
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

export type LifecycleBed = Awaited<ReturnType<typeof openLifecycleBed>>;

/** Lifecycle as a process beside an embedded API server, and a chart's rendering of the operator. */
export async function openLifecycleBed() {
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
  const env = { ...mortalEnv, LOG_LEVEL: 'debug', LEASE_DURATION: '8s', POD_NAMESPACE: namespace };
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
          spec: { replicas: 1 },
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
    /** A refusal, as the API server asks for it. */
    async refuse(): Promise<unknown> {
      const configuration = await client.get(validatingWebhookConfigurations, {
        name: managedObjects.protection,
      });
      return configuration;
    },
    async annotate(values: Readonly<Record<string, string>>): Promise<void> {
      await client.patch(multiNicOperators, ref, { metadata: { annotations: values } });
    },
    /** All that lifecycle made, without what differs from life to life. */
    objects(): Readonly<Record<string, unknown>> {
      const all = made.flatMap((kind) =>
        server.objects(kind).map((object) => [`${kind} ${object.metadata.name}`, plain(object)]),
      );
      return Object.fromEntries(all) as Record<string, unknown>;
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** Without identities, times, certificates and generated passwords. */
function plain(object: KubeObject & { readonly data?: object }): unknown {
  const { metadata, data, ...rest } = object;
  const { labels, annotations: all = {}, finalizers } = metadata;
  const kept = Object.entries(all).filter(([key]) => key !== annotations.applied);
  const shown = object.kind === 'Secret' ? Object.keys(data ?? {}).toSorted() : data;
  return { ...rest, data: shown, labels, annotations: Object.fromEntries(kept), finalizers };
}
