import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  prepareBusiness,
  prepareManagement,
  registerCluster,
} from '../../../../rig/chain/clusters.ts';
import { identities } from '../../../../rig/chain/identities.ts';
import { nodeConfigs, openstackConfigs } from '../../../../rig/chain/kinds.ts';
import { startParts, violaUrlOf } from '../../../../rig/chain/parts.ts';
import type { KnownRabbit } from '../../../../rig/cloud/contrabass.ts';
import { type RunningContrabass, startContrabass } from '../../../../rig/cloud/start.ts';
import {
  type ControlPlane,
  startControlPlane,
} from '../../../../rig/control-plane/control-plane.ts';
import { untilEstablished } from '../../../../rig/control-plane/established.ts';
import { type Stack, useStack } from '../../../../rig/openstack/stack.ts';
import { openTenant, type Tenant } from '../../../../rig/openstack/tenant.ts';
import { freePorts } from '../../../../rig/parts/free-ports.ts';
import { Supervisor } from '../../../../rig/parts/supervisor.ts';
import { crdDefinitions } from '../../../../src/api/crd/definition.ts';
import type { MultiNicNodeConfig } from '../../../../src/api/multinicnodeconfig.ts';
import { namespaces } from '../../../../src/api/names.ts';
import type { OpenstackConfig } from '../../../../src/api/openstackconfig.ts';
import { loadKubeconfig } from '../../../../src/kube/access/kubeconfig.ts';
import type { KubeClient } from '../../../../src/kube/client/client.ts';
import { createKubeClient } from '../../../../src/kube/client/http-client.ts';
import { systemClock as clock, systemRandom as random } from '../../../../src/time/clock.ts';

/** The business cluster registered in Viola, and the default for an OpenstackConfig without k8sProviderID. */
export const provider = 'business';

/** Operator, Viola and controller between real OpenStack and two real API servers; no node ever comes. */
export interface FieldsFixture extends AsyncDisposable {
  readonly cloud: Stack;
  readonly tenant: Tenant;
  readonly contrabass: RunningContrabass;
  readonly violaUrl: string;
  /** Operator's HTTP API: inventory, read API and what-ifs. */
  readonly operatorUrl: string;
  readonly management: KubeClient;
  /** Starts a Contrabass beside the operator's own, with a different key; the account may name a message queue. */
  startContrabass(encryptKey: string, rabbit?: KnownRabbit): Promise<RunningContrabass>;
  /** Writes an OpenstackConfig as people do. */
  apply(name: string, spec: object): Promise<void>;
  /** Sets an annotation on an OpenstackConfig, or removes the annotation. */
  annotate(name: string, annotation: string, value: string | null): Promise<void>;
  find(name: string): Promise<OpenstackConfig | undefined>;
  nodeConfig(serverId: string): Promise<MultiNicNodeConfig | undefined>;
}

/** Brings everything up; `env` is for all parts. */
export async function openFieldsFixture(
  env: Readonly<Record<string, string>>,
): Promise<FieldsFixture> {
  await using stack = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'multinic-fields-'));
  stack.defer(() => rm(directory, { recursive: true }));
  const [cloud, managing, serving] = await Promise.all([
    useStack((line) => process.stderr.write(`${line}\n`)).then((it) => stack.use(it)),
    startControlPlane('fldmgmt').then((it) => stack.use(it)),
    startControlPlane('fldbiz').then((it) => stack.use(it)),
  ]);
  const tenant = stack.use(await openTenant(cloud, 'fields'));
  const [management, business] = await Promise.all([
    openCluster(managing, prepareManagement, stack),
    openCluster(serving, prepareBusiness, stack),
  ]);
  await registerCluster(
    management,
    provider,
    await readFile(await serving.userKubeconfig(identities.writer), 'utf8'),
  );
  const keystoneUrl = cloud.keystoneUrl.replace(/\/v3$/, '');
  const { username, password, domainName } = tenant;
  const admin = { username, password, domainName, projectName: '' };
  const own = { keystoneUrl, admin };
  const contrabass = stack.use(await startContrabass({ ...own, encryptKey: 'fields-key-of-16' }));
  const supervisor = stack.use(new Supervisor(directory, clock));
  const [viola = 0, controller = 0, operator = 0, inventory = 0] = await freePorts(4);
  const ports = { viola, controller, operator, inventory };
  await startParts({
    supervisor,
    directory,
    clock,
    ports,
    kubeconfigs: {
      operator: await managing.userKubeconfig(identities.operator),
      viola: await managing.userKubeconfig(identities.viola),
      controller: await serving.userKubeconfig(identities.controller),
    },
    contrabassUrl: contrabass.contrabassUrl,
    encryptKey: contrabass.encryptKey,
    providers: ['*'],
    env,
  });
  const kept = stack.move();
  return {
    cloud,
    tenant,
    contrabass,
    violaUrl: violaUrlOf({ ports }),
    operatorUrl: `http://127.0.0.1:${inventory}`,
    management,
    startContrabass: async (encryptKey, rabbit) =>
      kept.use(await startContrabass({ ...own, encryptKey, ...(rabbit && { rabbit }) })),
    async apply(name, spec) {
      const object = { metadata: { name, namespace: namespaces.system }, spec } as OpenstackConfig;
      await management.apply(openstackConfigs, object, { fieldManager: 'people', force: true });
    },
    async annotate(name, annotation, value) {
      const patch = { metadata: { annotations: { [annotation]: value } } };
      await management.patch(openstackConfigs, { name, namespace: namespaces.system }, patch);
    },
    find: async (name) => management.find(openstackConfigs, { name, namespace: namespaces.system }),
    async nodeConfig(serverId) {
      const { items } = await business.list(nodeConfigs, { namespace: namespaces.system });
      return items.find(({ spec }) => spec?.instanceId === serverId);
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

async function openCluster(
  plane: ControlPlane,
  prepare: (client: KubeClient) => Promise<void>,
  stack: AsyncDisposableStack,
): Promise<KubeClient> {
  const crds = Object.values(crdDefinitions()).map((crd) => JSON.stringify(crd));
  await plane.kubectl(['apply', '--server-side', '-f', '-'], crds.join('\n'));
  await untilEstablished(plane);
  const access = await loadKubeconfig(plane.kubeconfig);
  const client = stack.use(createKubeClient(access, { clock, random, userAgent: 'people' }));
  await prepare(client);
  return client;
}
