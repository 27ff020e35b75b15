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

/** What our parts find: a cloud, two clusters, and a node that is a machine. */
export interface Ground {
  /** Folder of its own, removed with it. */
  readonly directory: string;
  readonly cloud: Stack;
  readonly tenant: Tenant;
  /** Whom Contrabass names: a member of the tenant's project. */
  readonly account: Account;
  readonly server: { readonly id: string; readonly name: string };
  readonly data: { readonly networkId: string; readonly subnetId: string };
  readonly management: ControlPlane;
  readonly business: ControlPlane;
  readonly node: Node;
  readonly hypervisor: Hypervisor;
  readonly contrabass: RunningContrabass;
}

export interface GroundOptions {
  readonly say: (line: string) => void;
  /** Archives of images that the node is to have. */
  readonly images: readonly string[];
  /** Who manages the node's network; default: netplan. */
  readonly profile?: NodeProfile | undefined;
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
  const { say, pods, profile = 'netplan' } = options;
  const directory = await mkdtemp(join(tmpdir(), 'multinic-e2e-'));
  stack.defer(() => rm(directory, { recursive: true }));
  const [cloud, management, business] = await Promise.all([
    useStack(say).then((it) => stack.use(it)),
    startControlPlane('mgmt', { pods }).then((it) => stack.use(it)),
    startControlPlane('biz', { pods }).then((it) => stack.use(it)),
  ]);
  say('cloud and control planes are up');
  const tenant = stack.use(await openTenant(cloud, 'e2e'));
  const { server, data } = await bootServer(tenant);
  const node = stack.use(
    await startNode(business, server.name, { kind: 'box', profile, systemUUID: server.id }),
  );
  for (const archive of options.images) await node.importImage(archive);
  await run('ip', ['-n', node.fabric, 'addr', 'add', `${subnet.gateway}/24`, 'dev', 'br0']);
  say(`node ${node.name} is Ready`);

  const hypervisor = stack.use(
    startHypervisor({
      user: tenant.user,
      machines: new Map([[server.id, nodeMachine(business.name, node.name)]]),
      clock: systemClock,
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
    server,
    data,
    management,
    business,
    node,
    hypervisor,
    contrabass,
  };
}

/** A server with one NIC, which stands for the node's own, and a network whose ports become ours. */
async function bootServer(tenant: Tenant) {
  const name = 'worker-1';
  const primary = await tenant.createNetwork({ name: 'primary' });
  await tenant.createSubnet({ networkId: primary.id, cidr: '10.66.0.0/24' });
  const network = await tenant.createNetwork({ name: 'data', mtu: subnet.mtu });
  const { id: subnetId } = await tenant.createSubnet({
    networkId: network.id,
    cidr: subnet.cidr,
    gatewayIp: subnet.gateway,
  });
  const { id } = await tenant.createServer({ name, networkIds: [primary.id] });
  return { server: { id, name }, data: { networkId: network.id, subnetId } };
}
