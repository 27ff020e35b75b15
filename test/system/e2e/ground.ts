import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type RunningContrabass, startContrabass } from '../../../rig/cloud/start.ts';
import { type ControlPlane, startControlPlane } from '../../../rig/control-plane/control-plane.ts';
import { type Node, type NodeProfile, startNode } from '../../../rig/control-plane/node.ts';
import { type Hypervisor, startHypervisor } from '../../../rig/hypervisor/hypervisor.ts';
import { nodeMachine } from '../../../rig/hypervisor/machines.ts';
import { type Stack, useStack } from '../../../rig/openstack/stack.ts';
import { type Account, openTenant, type Tenant } from '../../../rig/openstack/tenant.ts';
import { systemClock } from '../../../src/time/clock.ts';

const run = promisify(execFile);
export const encryptKey = '0123456789abcdef';
export const provider = 'business-1';
export const namespace = 'multinic-system';

/** The subnet whose ports become NICs; the fabric behind the node has its gateway. */
export const subnet = { cidr: '10.77.0.0/24', gateway: '10.77.0.1', mtu: 1400 } as const;
/** One of IPv6 beside it, for who makes it. */
export const subnet6 = { cidr: 'fd00:77::/64', gateway: 'fd00:77::1' } as const;

/** A server of the cloud that is a node of the business cluster. */
export interface Worker {
  readonly server: { readonly id: string; readonly name: string };
  readonly node: Node;
}

/** What our parts find: a cloud, two clusters, and nodes that are machines. `server` and `node` are the first worker. */
export interface Ground extends Worker {
  /** Folder of its own, removed with it. */
  readonly directory: string;
  readonly cloud: Stack;
  readonly tenant: Tenant;
  /** Whom Contrabass names: a member of the tenant's project. */
  readonly account: Account;
  readonly workers: readonly Worker[];
  readonly data: { readonly networkId: string; readonly subnetId: string };
  readonly management: ControlPlane;
  readonly business: ControlPlane;
  readonly hypervisor: Hypervisor;
  readonly contrabass: RunningContrabass;
}

export interface GroundOptions {
  readonly say: (line: string) => void;
  /** Archives of images that every worker is to have. */
  readonly images: readonly string[];
  /** Who manages the network of each worker; default: one worker with netplan. */
  readonly profiles?: readonly NodeProfile[] | undefined;
  /** Availability zone of the servers; default: that of the first nova-compute. */
  readonly zone?: string | undefined;
  /** Whether the clusters run ordinary Pods, and reach each other. */
  readonly pods: boolean;
  /** Keystone as the operator reaches it, of the Keystone that this machine reaches. */
  readonly keystoneFor?: (management: ControlPlane, keystoneUrl: string) => Promise<string>;
}

/** Brings everything up; the stack takes it down. */
export async function openGround(
  stack: AsyncDisposableStack,
  options: GroundOptions,
): Promise<Ground> {
  const { say, pods, profiles = ['netplan'], zone } = options;
  const directory = await mkdtemp(join(tmpdir(), 'multinic-e2e-'));
  stack.defer(() => rm(directory, { recursive: true }));
  const [cloud, management, business] = await Promise.all([
    useStack(say).then((it) => stack.use(it)),
    startControlPlane('mgmt', { pods }).then((it) => stack.use(it)),
    startControlPlane('biz', { pods }).then((it) => stack.use(it)),
  ]);
  say('cloud and control planes are up');
  const tenant = stack.use(await openTenant(cloud, 'e2e'));
  const { primaryId, data } = await makeNetworks(tenant);
  const workers: Worker[] = [];
  for (const [at, profile] of profiles.entries()) {
    const name = `worker-${at + 1}`;
    const { id } = await tenant.createServer({ name, networkIds: [primaryId], zone });
    const kind = { kind: 'box', profile, systemUUID: id } as const;
    const node = stack.use(await startNode(business, name, kind));
    for (const archive of options.images) await node.importImage(archive);
    await run('ip', ['-n', node.fabric, 'addr', 'add', `${subnet.gateway}/24`, 'dev', 'br0']);
    say(`node ${name} is Ready`);
    workers.push({ server: { id, name }, node });
  }
  const [first] = workers;
  if (!first) throw new Error('profiles must name at least 1 worker');

  const machines = workers.map(
    ({ server, node }) => [server.id, nodeMachine(business.name, node.name)] as const,
  );
  const hypervisor = stack.use(
    startHypervisor({
      user: tenant.user,
      machines: new Map(machines),
      clock: systemClock,
      // A look takes 40 ms of CPU, most of it Neutron's.
      pollMs: 500,
      onChange: ({ what, nic, mac }) => say(`hypervisor: ${what} ${nic} ${mac}`),
      onError: (error) => say(`hypervisor: ${String(error)}`),
    }),
  );
  await hypervisor.watching;
  const account = await tenant.createAccount(['member']);
  const keystoneUrl = await (options.keystoneFor?.(management, cloud.keystoneUrl) ??
    cloud.keystoneUrl);
  const contrabass = stack.use(
    await startContrabass({
      encryptKey,
      keystoneUrl,
      admin: {
        username: account.username,
        password: account.password,
        domainName: tenant.domainName,
        projectName: 'unused',
      },
    }),
  );
  return {
    directory,
    cloud,
    tenant,
    account,
    ...first,
    workers,
    data,
    management,
    business,
    hypervisor,
    contrabass,
  };
}

/** A network for the NICs that servers boot with, which stand for the nodes' own, and one whose ports become ours. */
async function makeNetworks(tenant: Tenant) {
  const { id: primaryId } = await tenant.createNetwork({ name: 'primary' });
  await tenant.createSubnet({ networkId: primaryId, cidr: '10.66.0.0/24' });
  const { id: networkId } = await tenant.createNetwork({ name: 'data', mtu: subnet.mtu });
  const { id: subnetId } = await tenant.createSubnet({
    networkId,
    cidr: subnet.cidr,
    gatewayIp: subnet.gateway,
  });
  return { primaryId, data: { networkId, subnetId } };
}
