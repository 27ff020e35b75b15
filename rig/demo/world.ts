import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { loadKubeconfig } from '../../src/kube/access/kubeconfig.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { createKubeClient } from '../../src/kube/client/http-client.ts';
import type { KubeObject } from '../../src/kube/object.ts';
import { defineResource, type Resource } from '../../src/kube/resource.ts';
import { type Clock, systemRandom } from '../../src/time/clock.ts';
import { prepareBusiness, prepareManagement, registerCluster } from '../chain/clusters.ts';
import { identities } from '../chain/identities.ts';
import { bootMachines, type DataNetwork, type Machine, makeNetworks } from '../chain/machines.ts';
import { startParts } from '../chain/parts.ts';
import { defaultAdmin } from '../cloud/start.ts';
import { type Hypervisor, startHypervisor } from '../hypervisor/hypervisor.ts';
import { hostMachine } from '../hypervisor/machines.ts';
import { openTenant, type Tenant } from '../openstack/tenant.ts';
import type { ChildSpec, Supervisor } from '../parts/supervisor.ts';
import { answers, waitFor } from '../parts/waiting.ts';
import type { Ports } from './ports.ts';
import type { Screen } from './screen.ts';

const rig = join(import.meta.dirname, '..');
const crds = join(rig, '..', 'deploy', 'crds');
const encryptKey = 'multinic-rig-key';
export const provider = 'demo-cluster';

export interface DemoWorld {
  readonly tenant: Tenant;
  readonly data: DataNetwork;
  readonly machines: readonly Machine[];
  readonly management: KubeClient;
  readonly business: KubeClient;
  readonly hypervisor: Hypervisor;
}

export interface WorldOptions {
  readonly stack: AsyncDisposableStack;
  readonly supervisor: Supervisor;
  readonly directory: string;
  readonly ports: Ports;
  readonly screen: Screen;
  readonly clock: Clock;
}

/** Starts cloud, clusters, hosts and parts; each thing it starts is given to the stack, which stops it. */
export async function openDemoWorld(options: WorldOptions): Promise<DemoWorld> {
  const { stack, supervisor, ports, screen, clock } = options;
  const file = (name: string) => join(options.directory, name);
  await Promise.all([
    supervisor.start(cloudChild(ports, clock)),
    supervisor.start(apiChild('management', ['operator', 'viola'], options)),
    supervisor.start(apiChild('business', ['writer', 'controller'], options)),
  ]);
  screen.step('cloud', `Keystone, Neutron, Nova and Contrabass in memory at ${url(ports.cloud)}`);
  screen.step('clusters', 'two Kubernetes API servers in memory: management and business');
  const [management, business, tenant] = await Promise.all([
    connect(stack, file('management.kubeconfig'), clock),
    connect(stack, file('business.kubeconfig'), clock),
    openTenant({ keystoneUrl: `${url(ports.cloud)}/identity`, admin: defaultAdmin }, 'demo').then(
      (it) => stack.use(it),
    ),
  ]);
  await Promise.all([prepareManagement(management), prepareBusiness(business)]);
  await registerCluster(management, provider, await readFile(file('writer.kubeconfig'), 'utf8'));

  const kubeconfigs = {
    operator: file('operator.kubeconfig'),
    viola: file('viola.kubeconfig'),
    controller: file('controller.kubeconfig'),
  };
  const [nodes] = await Promise.all([
    bootNodes(options, { tenant, business, kubeconfig: file('business.kubeconfig') }),
    startParts({
      ...options,
      kubeconfigs,
      contrabassUrl: `${url(ports.cloud)}/contrabass`,
      encryptKey,
      providers: [provider],
    }),
  ]);
  screen.step('parts', 'operator, viola and controller are ready');
  return { tenant, management, business, ...nodes };
}

interface Surroundings {
  readonly tenant: Tenant;
  readonly business: KubeClient;
  readonly kubeconfig: string;
}

/** Hosts with a kubelet each, and the hypervisor that plugs NICs into them. */
async function bootNodes(options: WorldOptions, { tenant, business, kubeconfig }: Surroundings) {
  const { stack, supervisor, screen, clock } = options;
  const { primaryId, data } = await makeNetworks(tenant);
  const machines = await bootMachines(['worker-1', 'worker-2'], { tenant, primaryId }, stack);
  await Promise.all(
    machines.map((machine) => supervisor.start(kubeletChild(machine, kubeconfig, business, clock))),
  );
  for (const { name, host } of machines)
    screen.step('node', `${name} is Ready in namespace ${host.netns}`);
  const hypervisor = stack.use(
    startHypervisor({
      user: tenant.user,
      machines: new Map(
        machines.map((machine) => [machine.serverId, hostMachine(machine.host.name)]),
      ),
      clock,
      onChange: ({ what, serverId, nic, mac }) => {
        const name = machines.find((machine) => machine.serverId === serverId)?.name ?? serverId;
        screen.step(
          'hypervisor',
          `${what} ${nic} (${mac}) ${what === 'plugged' ? 'into' : 'from'} ${name}`,
        );
      },
    }),
  );
  await hypervisor.watching;
  return { data, machines, hypervisor };
}

function url(port: number): string {
  return `http://127.0.0.1:${port}`;
}

function child(script: string, ...args: readonly string[]): ChildSpec['command'] {
  return [process.execPath, join(rig, script), ...args];
}

function cloudChild({ cloud }: Ports, clock: Clock): ChildSpec {
  return {
    name: 'cloud',
    command: child('cloud/main.ts', '--port', String(cloud), '--encrypt-key', encryptKey),
    ready: (signal) => answers(`${url(cloud)}/identity/`, { clock, signal }),
  };
}

/** An API server, which writes a kubeconfig for the administrator and one for each of the parts. */
function apiChild(
  name: 'management' | 'business',
  parts: readonly (keyof typeof identities)[],
  { ports, directory, clock }: WorldOptions,
): ChildSpec {
  const fileOf = (whose: string) => join(directory, `${whose}.kubeconfig`);
  const kubeconfig = fileOf(name);
  const users = parts.flatMap((part) => ['--user', `${identities[part]}=${fileOf(part)}`]);
  return {
    name,
    command: child(
      'apiserver/main.ts',
      '--port',
      String(ports[name]),
      '--crds',
      crds,
      '--kubeconfig',
      kubeconfig,
      ...users,
    ),
    ready: async (signal) => {
      await waitFor(`the API server of ${name}`, () => serves(kubeconfig, clock), {
        clock,
        signal,
      });
    },
  };
}

async function serves(kubeconfig: string, clock: Clock): Promise<true> {
  await using client = createKubeClient(await loadKubeconfig(kubeconfig), { clock });
  await client.version();
  return true;
}

function kubeletChild(
  { name, serverId, host }: Machine,
  kubeconfig: string,
  business: KubeClient,
  clock: Clock,
): ChildSpec {
  const where = ['--netns', host.netns, '--host-root', host.root];
  return {
    name: `kubelet-${name}`,
    command: child(
      'kubelet/main.ts',
      '--kubeconfig',
      kubeconfig,
      '--node',
      name,
      '--system-uuid',
      serverId,
      ...where,
    ),
    ready: async (signal) => {
      await waitFor(`node ${name}`, () => isReady(business, name), { clock, signal });
    },
  };
}

interface NodeObject extends KubeObject {
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}
const nodes: Resource<NodeObject> = defineResource<NodeObject>({
  group: '',
  version: 'v1',
  plural: 'nodes',
  kind: 'Node',
  namespaced: false,
});

async function isReady(business: KubeClient, name: string): Promise<true | undefined> {
  const node = await business.find(nodes, { name });
  const ready = node?.status?.conditions?.find(({ type }) => type === 'Ready');
  return ready?.status === 'True' ? true : undefined;
}

async function connect(
  stack: AsyncDisposableStack,
  kubeconfig: string,
  clock: Clock,
): Promise<KubeClient> {
  const access = await loadKubeconfig(kubeconfig);
  return stack.use(
    createKubeClient(access, { clock, random: systemRandom, userAgent: 'multinic-demo' }),
  );
}
