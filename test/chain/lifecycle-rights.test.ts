import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { stringify } from 'yaml';
import { startApiServer } from '../../rig/apiserver/server.ts';
import { identities } from '../../rig/chain/identities.ts';
import { createAll } from '../../rig/chain/manifests.ts';
import { freePorts } from '../../rig/parts/free-ports.ts';
import { lifecyclePart } from '../../rig/parts/parts.ts';
import { Supervisor } from '../../rig/parts/supervisor.ts';
import { crdDefinitions } from '../../src/api/crd/definition.ts';
import { managedObjects, namespaces } from '../../src/api/names.ts';
import { createKubeClient } from '../../src/kube/client/http-client.ts';
import { configMaps, deployments, pods, services } from '../../src/kube/core-resources.ts';
import { multiNicOperators } from '../../src/lifecycle/model/multinicoperator.ts';
import { systemClock as clock, systemRandom as random } from '../../src/time/clock.ts';
import { claimsOfParts } from '../rbac/claims.ts';
import { inWords, useOf } from '../rbac/used.ts';

const namespace = namespaces.system;
const ref = { namespace, name: 'production-system' };
const controller = managedObjects.controller;
const selector = { 'app.kubernetes.io/name': 'multinic-operator' };
const managedBy = 'multinic.example.com/managed-by-operator';
/** Used only when an Event repeats, as on a slow machine. */
const rarely = ['patch events in multinic-system'];
const waiting = { timeout: 20_000 };

function base(): Record<string, string> {
  const service = (name: string) => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace },
    spec: { selector, ports: [{ port: 80 }] },
  });
  return {
    'deployment.yaml': stringify({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: controller, namespace },
      spec: {
        selector: { matchLabels: selector },
        template: {
          metadata: { labels: selector },
          spec: { containers: [{ name: 'operator', image: 'multinic:v1' }] },
        },
      },
    }),
    'inventory-service.yaml': stringify(service('multinic-operator-inventory-service')),
    'metrics-service.yaml': stringify(service('multinic-operator-metrics')),
    'trigger-service.yaml': stringify(service('multinic-operator-trigger')),
    'disruption-budget.yaml': stringify({
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: controller, namespace },
      spec: { maxUnavailable: 1, selector: { matchLabels: selector } },
    }),
  };
}

it('lifecycle uses exactly its granted rights, a rare one possibly not, from installation to deletion of a MultiNicOperator', async () => {
  await using stack = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'multinic-rights-'));
  stack.defer(() => rm(directory, { recursive: true }));
  const server = stack.use(await startApiServer({ crds: Object.values(crdDefinitions()) }));
  const admin = stack.use(createKubeClient(server.access, { clock, random }));
  await createAll(admin, 'management', 'lifecycle');
  await admin.apply(
    configMaps,
    { metadata: { name: managedObjects.controllerBase, namespace }, data: base() },
    { fieldManager: 'helm' },
  );
  const legacy = { name: managedObjects.legacyController, namespace };
  await admin.create(deployments, { metadata: legacy, spec: { replicas: 1 } });
  const kubeconfig = join(directory, 'kubeconfig');
  await writeFile(kubeconfig, await server.kubeconfig(server.accessAs(identities.lifecycle)));
  const [port = 0, webhookPort = 0] = await freePorts(2);
  const parts = stack.use(new Supervisor(directory, clock));
  const env = { POD_NAMESPACE: namespace, LEASE_DURATION: '9s' };
  await parts.start(lifecyclePart({ kubeconfig, port, webhookPort, clock, env }));

  const has = (kind: string, name: string) =>
    server.objects(kind).some(({ metadata }) => metadata.name === name);
  await admin.create(multiNicOperators, {
    metadata: { ...ref, annotations: { 'multinic.io/take-over': 'yes' } },
    spec: {
      controller: { replicas: 2 },
      database: { enabled: true },
      protection: { enableMutationPrevention: true },
      reconcileTrigger: { mode: 'manual' },
    },
  });
  await expect.poll(() => has('deployments.apps', controller), waiting).toBe(true);
  await expect.poll(() => has('poddisruptionbudgets.policy', controller), waiting).toBe(true);
  await expect.poll(() => has('cronjobs.batch', managedObjects.backup), waiting).toBe(true);
  await expect.poll(() => has('configmaps', 'multinic-operator-triggers'), waiting).toBe(true);
  // A restore into MariaDB starts only when its Pod is ready.
  const labels = { [managedBy]: ref.name, app: 'mariadb' };
  const pod = { metadata: { name: 'mariadb-0', namespace, labels }, spec: { containers: [] } };
  await admin.create(pods, pod);
  const ready = [{ type: 'Ready', status: 'True' }];
  await admin.patchStatus(
    pods,
    { namespace, name: 'mariadb-0' },
    { status: { conditions: ready } },
  );
  const restore = { metadata: { annotations: { 'multinic.io/restore': 'latest' } } };
  await admin.patch(multiNicOperators, ref, restore);
  await expect.poll(() => server.objects('jobs.batch').length, waiting).toBe(1);
  await admin.delete(services, { namespace, name: 'multinic-operator-metrics' });
  await expect.poll(() => has('services', 'multinic-operator-metrics'), waiting).toBe(true);
  const replicas = { spec: { controller: { replicas: 1 }, reconcileTrigger: null } };
  await admin.patch(multiNicOperators, ref, replicas);
  await expect.poll(() => has('poddisruptionbudgets.policy', controller), waiting).toBe(false);
  await expect.poll(() => has('configmaps', 'multinic-operator-triggers'), waiting).toBe(false);
  await admin.delete(multiNicOperators, ref);
  await expect
    .poll(() => has('multinicoperators.multinic.example.com', ref.name), waiting)
    .toBe(false);

  const { lifecycle } = claimsOfParts();
  const use = () => useOf(server.audit, identities.lifecycle, lifecycle);
  const unused = () => use().unused.filter((right) => !rarely.includes(right));
  // On shutdown lifecycle checks whether its namespace is being deleted.
  await expect.poll(unused, waiting).toEqual(['get namespaces of multinic-system']);
  await parts.stop('lifecycle');

  expect(unused()).toEqual([]);
  expect(use()).toMatchObject({ refused: [], beyond: [] });
  expect(lifecycle.map(({ action }) => inWords(action))).toEqual(expect.arrayContaining(rarely));
}, 90_000);
