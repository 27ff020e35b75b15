import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ApiServer, startApiServer } from '../../rig/apiserver/server.ts';
import { prepareBusiness, prepareManagement, registerCluster } from '../../rig/chain/clusters.ts';
import { identities } from '../../rig/chain/identities.ts';
import {
  bootMachines,
  type DataNetwork,
  type Machine,
  makeNetworks,
} from '../../rig/chain/machines.ts';
import { type MountedAccess, mountAccess } from '../../rig/chain/managed-access.ts';
import { createAll } from '../../rig/chain/manifests.ts';
import { type Bundles, startParts, violaUrlOf } from '../../rig/chain/parts.ts';
import type { KnownRabbit } from '../../rig/cloud/contrabass.ts';
import { type RunningCloud, startCloud } from '../../rig/cloud/start.ts';
import { installLegacyViola, type LegacyViola } from '../../rig/deployed/part.ts';
import { type Hypervisor, startHypervisor } from '../../rig/hypervisor/hypervisor.ts';
import { hostMachine } from '../../rig/hypervisor/machines.ts';
import { type Kubelet, startKubelet } from '../../rig/kubelet/kubelet.ts';
import { openTenant, type Tenant } from '../../rig/openstack/tenant.ts';
import { freePorts } from '../../rig/parts/free-ports.ts';
import { Supervisor } from '../../rig/parts/supervisor.ts';
import { crdDefinitions } from '../../src/api/crd/definition.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { createKubeClient } from '../../src/kube/client/http-client.ts';
import { systemClock as clock, systemRandom as random } from '../../src/time/clock.ts';

/** A node whose NICs are plugged by a hypervisor of its own, so that one can be held alone. */
export interface Worker extends Machine {
  readonly hypervisor: Hypervisor;
  readonly kubelet: Kubelet;
}

/** An embedded API server in this process, where it can be made to fail, and the administrator's client. */
export interface Cluster {
  readonly server: ApiServer;
  readonly client: KubeClient;
  /** Writes a kubeconfig for the part's own identity; answers its path. */
  kubeconfigFor(part: keyof typeof identities): Promise<string>;
}

/** The real parts as processes, real agents on namespace hosts, and stand-ins that fail on request. */
export interface World extends AsyncDisposable {
  readonly cloud: RunningCloud;
  readonly tenant: Tenant;
  readonly data: DataNetwork;
  /** The network that servers boot with. */
  readonly primaryId: string;
  readonly management: Cluster;
  readonly business: Cluster;
  readonly parts: Supervisor;
  /** For files that go with the world. */
  readonly directory: string;
  readonly inventoryUrl: string;
  readonly violaUrl: string;
  readonly workers: readonly Worker[];
  /** Stops the parts and starts them as these versions: an upgrade, or the way back. */
  becomes(bundles: Bundles): Promise<void>;
}

/** The business cluster as Viola knows it. */
export const provider = 'business';

export interface WorldOptions {
  /** Environment of all parts. */
  readonly env?: Readonly<Record<string, string>>;
  /** Poll interval of the operator, as a Go duration; default 1s. */
  readonly poll?: string;
  /** The operator makes what it and Viola know each other by (default: both are given files). */
  readonly managedAccess?: boolean;
  /** The Viola of the legacy system stands where ours does; its own cluster is the management cluster. */
  readonly isViolaLegacy?: boolean;
  /** The message queue that Contrabass names. */
  readonly rabbit?: KnownRabbit;
  /** What stands for the entry point of the agent's image (default: the agent of the bundle). */
  readonly agentCommand?: readonly string[];
  /** Folders of the bundles of parts that are of another version. */
  readonly bundles?: Bundles;
  /** Happens when all rights are given, before a part starts. */
  readonly prepared?: (clusters: Pick<World, 'management' | 'business'>) => Promise<void>;
}

/** Brings everything up, or nothing: what was started is taken down again when a step fails. */
export async function openWorld(
  names: readonly string[],
  options: WorldOptions = {},
): Promise<World> {
  const { agentCommand, managedAccess = false, prepared, rabbit, ...ofParts } = options;
  await using stack = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'multinic-chain-'));
  stack.defer(() => rm(directory, { recursive: true }));
  const cloud = stack.use(await startCloud({ encryptKey: 'chain-encrypt-ke', rabbit }));
  const management = await openCluster('management', directory, stack);
  const business = await openCluster('business', directory, stack);
  await Promise.all([prepareManagement(management.client), prepareBusiness(business.client)]);
  await registerCluster(management.client, provider, await writerOf(business.server));

  const tenant = await openTenant(cloud, 'chain');
  const { primaryId, data } = await makeNetworks(tenant);
  const machines = await bootMachines(names, { tenant, primaryId }, stack);
  const parts = stack.use(new Supervisor(directory, clock));
  const [viola = 0, controller = 0, operator = 0, inventory = 0] = await freePorts(4);
  const ports = { viola, controller, operator, inventory };
  const access = managedAccess ? await openAccess(management, directory, stack) : undefined;
  await prepared?.({ management, business });
  const installed = {
    supervisor: parts,
    directory,
    clock,
    kubeconfigs: await kubeconfigsOf({ management, business }),
    ports,
    access,
    legacyViola: await legacyViolaOf(options, { management, business, directory }),
    contrabassUrl: cloud.contrabassUrl,
    encryptKey: cloud.encryptKey,
    providers: ['*'],
    ...ofParts,
  };
  await startParts(installed);
  const workers = await Promise.all(
    machines.map((machine) =>
      openWorker(machine, { tenant, business, directory }, stack, agentCommand),
    ),
  );
  const kept = stack.move();
  return {
    cloud,
    tenant,
    data,
    primaryId,
    management,
    business,
    parts,
    directory,
    violaUrl: violaUrlOf({ ports, access }),
    inventoryUrl: `http://127.0.0.1:${inventory}`,
    workers,
    async becomes(others) {
      for (const part of ['operator', 'controller', 'viola']) await parts.stop(part);
      await startParts({ ...installed, bundles: others });
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** The stand-in of the legacy Viola, which writes nodes of the business cluster there and all others in its own cluster. */
async function legacyViolaOf(
  { isViolaLegacy = false }: WorldOptions,
  { management, business, directory }: Pick<World, 'management' | 'business' | 'directory'>,
): Promise<LegacyViola | undefined> {
  if (!isViolaLegacy) return undefined;
  const targets = { [provider]: business.server.accessAs(identities.writer) };
  return installLegacyViola({ directory, own: management.server.access, targets });
}

/** What each part reaches its clusters with. */
export async function kubeconfigsOf({
  management,
  business,
}: Pick<World, 'management' | 'business'>) {
  return {
    operator: await management.kubeconfigFor('operator'),
    viola: await management.kubeconfigFor('viola'),
    controller: await business.kubeconfigFor('controller'),
  };
}

/** Lets the operator keep the access to Viola, and mounts it. */
async function openAccess(
  { client }: Cluster,
  directory: string,
  stack: AsyncDisposableStack,
): Promise<MountedAccess> {
  await createAll(client, 'operator-viola-access');
  return stack.use(mountAccess(client, directory, clock));
}

/** Brings up one more cluster with our kinds; the stack takes it down. */
export async function openCluster(
  name: string,
  directory: string,
  stack: AsyncDisposableStack,
): Promise<Cluster> {
  const crds = Object.values(crdDefinitions());
  const server = stack.use(await startApiServer({ tls: true, crds }));
  const client = stack.use(createKubeClient(server.access, { clock, random, userAgent: 'test' }));
  return {
    server,
    client,
    async kubeconfigFor(part) {
      const path = join(directory, `${name}-${part}.kubeconfig`);
      const kubeconfig = await server.kubeconfig(server.accessAs(identities[part]));
      await writeFile(path, kubeconfig, { mode: 0o600 });
      return path;
    },
  };
}

/** The kubeconfig by which Viola writes in a business cluster. */
export function writerOf(business: ApiServer): Promise<string> {
  return business.kubeconfig(business.accessAs(identities.writer));
}

/** Makes a machine a node of the business cluster; the stack takes what it adds down. */
export async function openWorker(
  machine: Machine,
  { tenant, business, directory }: Pick<World, 'tenant' | 'business' | 'directory'>,
  stack: AsyncDisposableStack,
  agentCommand?: readonly string[],
): Promise<Worker> {
  const { name, serverId, host } = machine;
  const kubelet = stack.use(
    await startKubelet({
      access: business.server.access,
      node: { name, systemUUID: serverId, host },
      directory: join(directory, `kubelet-${name}`),
      ...(agentCommand ? { agentCommand } : {}),
    }),
  );
  const hypervisor = stack.use(
    startHypervisor({
      user: tenant.user,
      machines: new Map([[serverId, hostMachine(host.name)]]),
      clock,
    }),
  );
  await hypervisor.watching;
  return { ...machine, hypervisor, kubelet };
}
