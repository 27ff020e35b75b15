import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildImages, ownArchitecture } from '../../deploy/image/images.ts';
import { identities } from '../../rig/chain/identities.ts';
import { type RunningContrabass, startContrabass } from '../../rig/cloud/start.ts';
import { type ControlPlane, startControlPlane } from '../../rig/control-plane/control-plane.ts';
import { type Node, startNode } from '../../rig/control-plane/node.ts';
import { type Hypervisor, startHypervisor } from '../../rig/hypervisor/hypervisor.ts';
import { nodeMachine } from '../../rig/hypervisor/machines.ts';
import { type Stack, useStack } from '../../rig/openstack/stack.ts';
import { type Account, openTenant, type Tenant } from '../../rig/openstack/tenant.ts';
import { freePorts } from '../../rig/parts/free-ports.ts';
import { controllerPart, operatorPart, violaPart } from '../../rig/parts/parts.ts';
import { mortalEnv } from '../../rig/parts/program.ts';
import { Supervisor } from '../../rig/parts/supervisor.ts';
import { systemClock } from '../../src/time/clock.ts';
import { mortalBundle } from './mortal-image.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..');
export const encryptKey = '0123456789abcdef';
export const provider = 'business-1';
export const namespace = 'multinic-system';
const agentImage = 'localhost/multinic-agent:dev';

/** The subnet whose ports become NICs; the fabric behind the node has its gateway. */
export const subnet = { cidr: '10.77.0.0/24', gateway: '10.77.0.1', mtu: 1400 } as const;

/** The chain on real parts: a cloud, two clusters, a node that is a machine, and our parts with their own identities. */
export interface World extends AsyncDisposable {
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
  readonly parts: Supervisor;
  readonly contrabass: RunningContrabass;
  readonly tokens: Readonly<Record<'operator' | 'foreign' | 'readOnly', string>>;
  readonly violaUrl: string;
  readonly inventoryUrl: string;
  /** Id of the agent image as it was packed; the Pod's imageID has to be the same. */
  readonly imageId: string;
}

export interface WorldOptions {
  /** Whether parts and agents can be made to die at one of their writes. */
  readonly mortal?: boolean;
}

/** Brings everything up, or nothing: what was started is taken down again when a step fails. */
export async function openWorld(
  say: (line: string) => void,
  { mortal = false }: WorldOptions = {},
): Promise<World> {
  await using stack = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'multinic-e2e-'));
  stack.defer(() => rm(directory, { recursive: true }));
  const image = await packImage(directory, mortal);
  const [cloud, management, business] = await Promise.all([
    useStack(say).then((it) => stack.use(it)),
    startControlPlane('mgmt').then((it) => stack.use(it)),
    startControlPlane('biz').then((it) => stack.use(it)),
  ]);
  say('cloud and control planes are up');
  const tenant = stack.use(await openTenant(cloud, 'e2e'));
  const { server, data } = await bootServer(tenant);
  const node = stack.use(
    await startNode(business, server.name, { kind: 'box', systemUUID: server.id }),
  );
  await node.importImage(image.archive);
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
  const contrabass = stack.use(
    await startContrabass({
      encryptKey,
      keystoneUrl: cloud.keystoneUrl,
      admin: {
        username: account.username,
        password: account.password,
        domainName: tenant.domainName,
        projectName: 'unused',
      },
    }),
  );
  await prepareClusters(management, business);
  const { parts, ...access } = await startParts(stack, directory, {
    management,
    business,
    contrabass,
    env: mortal ? { ...mortalEnv, LEASE_DURATION: '5s' } : {},
  });
  const kept = stack.move();
  return {
    cloud,
    tenant,
    account,
    server,
    data,
    management,
    business,
    node,
    hypervisor,
    parts,
    contrabass,
    ...access,
    imageId: image.id,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** The image as it is shipped; one whose agent can be ended at its writes has a file of the rig in it. */
async function packImage(
  directory: string,
  mortal: boolean,
): Promise<{ archive: string; id: string }> {
  await run(process.execPath, [join(root, 'deploy/bundle.ts')]);
  if (!mortal) return shippedAgent(join(directory, 'images'));
  const archive = join(directory, 'agent.tar');
  const bundle = await mortalBundle(join(directory, 'bundle'));
  const { stdout } = await run(join(root, 'rig/agent-image/pack'), [archive, bundle]);
  return { archive, id: stdout.trim() };
}

async function shippedAgent(out: string): Promise<{ archive: string; id: string }> {
  const what = { architecture: ownArchitecture, version: 'dev', out, repository: 'localhost' };
  const images = await buildImages({ ...what, work: join(out, 'work') });
  const agent = images.find(({ name }) => name === 'localhost/multinic-agent:dev');
  if (!agent) throw new Error(`no agent among ${images.map(({ name }) => name).join(', ')}`);
  return { archive: agent.file, id: agent.id };
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

/** Kinds, namespaces and the rights of each part, as an installation has them. */
async function prepareClusters(management: ControlPlane, business: ControlPlane): Promise<void> {
  await apply(management, 'rbac/management.yaml', 'crds', 'rbac/operator.yaml', 'rbac/viola.yaml');
  await apply(business, 'rbac/namespaces.yaml', 'crds', 'rbac/controller.yaml');
  await apply(business, 'rbac/viola-business.yaml');
  for (const cluster of [management, business]) {
    await cluster.kubectl(['wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s']);
  }
}

async function apply(cluster: ControlPlane, ...files: readonly string[]): Promise<void> {
  for (const file of files) {
    await cluster.kubectl(['apply', '--server-side', '-f', join(root, 'deploy', file)]);
  }
}

interface Clusters {
  readonly management: ControlPlane;
  readonly business: ControlPlane;
  readonly contrabass: RunningContrabass;
  /** Environment of all parts. */
  readonly env: Readonly<Record<string, string>>;
}

async function startParts(stack: AsyncDisposableStack, directory: string, clusters: Clusters) {
  const { management, business, contrabass, env } = clusters;
  const tokens = { operator: newToken(), foreign: newToken(), readOnly: newToken() };
  const tokenFile = join(directory, 'tokens.yaml');
  const operatorToken = join(directory, 'operator-token');
  await writeFile(tokenFile, JSON.stringify(grantsOf(tokens)), { mode: 0o600 });
  await writeFile(operatorToken, tokens.operator, { mode: 0o600 });
  await register(
    management,
    await readFile(await business.userKubeconfig(identities.writer), 'utf8'),
  );

  const [viola = 0, controller = 0, health = 0, inventory = 0] = await freePorts(4);
  const common = { clock: systemClock, logLevel: 'debug', env } as const;
  const parts = stack.use(new Supervisor(directory, systemClock));
  const violaUrl = `http://127.0.0.1:${viola}`;
  await parts.start(
    violaPart({
      ...common,
      kubeconfig: await management.userKubeconfig(identities.viola),
      port: viola,
      tokenFile,
    }),
  );
  await parts.start(
    controllerPart({
      ...common,
      kubeconfig: await business.userKubeconfig(identities.controller),
      port: controller,
      agentImage,
    }),
  );
  await parts.start(
    operatorPart({
      ...common,
      kubeconfig: await management.userKubeconfig(identities.operator),
      healthPort: health,
      inventoryPort: inventory,
      violaUrl,
      violaTokenFile: operatorToken,
      contrabassUrl: contrabass.contrabassUrl,
      encryptKey,
      database: join(directory, 'inventory.db'),
      poll: '2s',
    }),
  );
  return { parts, tokens, violaUrl, inventoryUrl: `http://127.0.0.1:${inventory}` };
}

function grantsOf({ operator, foreign, readOnly }: World['tokens']) {
  return [
    grant('operator', operator, provider, 'read', 'write', 'delete'),
    grant('foreign', foreign, 'business-2', 'read', 'write'),
    grant('viewer', readOnly, provider, 'read'),
  ];
}

function grant(name: string, token: string, granted: string, ...verbs: string[]) {
  const sha256 = createHash('sha256').update(token).digest('hex');
  return { name, sha256, providers: [granted], verbs };
}

async function register(management: ControlPlane, kubeconfig: string): Promise<void> {
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: provider,
      namespace: 'multinic-clusters',
      labels: { 'multinic.io/provider-id': provider },
    },
    stringData: { kubeconfig },
  };
  await management.kubectl(['apply', '-f', '-'], JSON.stringify(secret));
}

function newToken(): string {
  return randomBytes(24).toString('hex');
}
