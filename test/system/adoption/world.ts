import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  prepareBusiness,
  prepareManagement,
  registerCluster,
} from '../../../rig/chain/clusters.ts';
import { identities } from '../../../rig/chain/identities.ts';
import { createAll, deployFolder } from '../../../rig/chain/manifests.ts';
import { startParts } from '../../../rig/chain/parts.ts';
import { type RunningCloud, startCloud } from '../../../rig/cloud/start.ts';
import { type ControlPlane, startControlPlane } from '../../../rig/control-plane/control-plane.ts';
import { untilEstablished } from '../../../rig/control-plane/established.ts';
import type { Node, NodeProfile } from '../../../rig/control-plane/node.ts';
import { runScript } from '../../../rig/hosts/box/script.ts';
import { freePorts } from '../../../rig/parts/free-ports.ts';
import { Supervisor } from '../../../rig/parts/supervisor.ts';
import { loadKubeconfig } from '../../../src/kube/access/kubeconfig.ts';
import type { KubeClient } from '../../../src/kube/client/client.ts';
import { createKubeClient } from '../../../src/kube/client/http-client.ts';
import { systemClock as clock, systemRandom as random } from '../../../src/time/clock.ts';
import { multinic, pasted, type Ran } from '../../fixtures/cli/real-kubectl.ts';
import { startCreatedNode } from './created-node.ts';
import { ScriptedNodes } from './scripted-nodes.ts';
import { type CreatedServers, createServers } from './servers.ts';

const root = join(import.meta.dirname, '../../..');
const profiles = ['netplan', 'networkd', 'keyfile'] as const satisfies NodeProfile[];
const agentImage = 'localhost/multinic-agent:dev';

export const provider = 'business-1';
export const size = 20;

/** A real API server for both clusters, all parts as processes, 3 nodes with real agents, and 17 scripted nodes. */
export interface Fleet extends AsyncDisposable, CreatedServers {
  readonly cloud: RunningCloud;
  readonly plane: ControlPlane;
  readonly client: KubeClient;
  /** Nodes with a real kubelet, one per network manager. */
  readonly boxes: readonly Node[];
  /** Client of a user with the ClusterRole edit. */
  readonly editor: KubeClient;
  /** Runs `kubectl multinic …` as this user. */
  multinic(...argv: readonly string[]): Promise<Ran>;
  /** Runs a command line as this user. */
  paste(line: string): Promise<Ran>;
}

export async function openFleet(): Promise<Fleet> {
  await using stack = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'multinic-fleet-'));
  stack.defer(() => rm(directory, { recursive: true }));
  const cloud = stack.use(await startCloud({ encryptKey: 'fleet-encrypt-ke' }));
  const created = await createServers(cloud, size, stack);
  const plane = stack.use(await startControlPlane('fleet'));
  const access = await loadKubeconfig(plane.kubeconfig);
  const client = stack.use(createKubeClient(access, { clock, random, userAgent: 'people' }));
  await prepareCluster(plane, client);
  const kubeconfig = await kubeconfigOfEditor(plane);
  const own = await loadKubeconfig(kubeconfig);
  const editor = stack.use(createKubeClient(own, { clock, random, userAgent: 'editor' }));
  const archive = join(directory, 'agent.tar');
  await runScript(join(root, 'rig/agent-image/pack'), [archive]);
  const boxes: Node[] = [];
  for (const [at, profile] of profiles.entries()) {
    const server = created.servers[at];
    if (server) boxes.push(stack.use(await startCreatedNode(plane, server, { profile, archive })));
  }
  stack.use(await ScriptedNodes.start(client, created.servers.slice(profiles.length)));
  const inventory = await startFleetParts({ plane, cloud, directory }, stack);
  const shell = { kubeconfig, folder: directory };
  const sources = ['--inventory', inventory, '--business-context', `${provider}=${plane.name}`];
  const kept = stack.move();
  return {
    ...created,
    cloud,
    plane,
    client,
    editor,
    boxes,
    multinic: (...argv) => multinic(shell, ...argv, ...sources),
    paste: (line) => pasted(shell, line),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

async function prepareCluster(plane: ControlPlane, client: KubeClient): Promise<void> {
  await plane.kubectl(['apply', '--server-side', '-f', join(deployFolder, 'crds')]);
  await untilEstablished(plane);
  await prepareManagement(client);
  await prepareBusiness(client);
  await createAll(client, 'users');
  const writer = await readFile(await plane.userKubeconfig(identities.writer), 'utf8');
  await registerCluster(client, provider, writer);
}

/** Returns the kubeconfig of a user with Kubernetes' role `edit`. */
async function kubeconfigOfEditor(plane: ControlPlane): Promise<string> {
  const binding = ['clusterrolebinding', 'jane', '--clusterrole=edit', '--user=jane'];
  await plane.kubectl(['create', ...binding]);
  return plane.userKubeconfig('jane');
}

interface Place {
  readonly plane: ControlPlane;
  readonly cloud: RunningCloud;
  readonly directory: string;
}

/** Starts operator, Viola and controller; returns the URL of the inventory. */
async function startFleetParts(
  { plane, cloud, directory }: Place,
  stack: AsyncDisposableStack,
): Promise<string> {
  const [viola = 0, controller = 0, operator = 0, inventory = 0] = await freePorts(4);
  await startParts({
    supervisor: stack.use(new Supervisor(directory, clock)),
    directory,
    clock,
    kubeconfigs: {
      operator: await plane.userKubeconfig(identities.operator),
      viola: await plane.userKubeconfig(identities.viola),
      controller: await plane.userKubeconfig(identities.controller),
    },
    ports: { viola, controller, operator, inventory },
    contrabassUrl: cloud.contrabassUrl,
    encryptKey: cloud.encryptKey,
    providers: [provider],
    agentImage,
    env: { AGENT_SYSTEM_BUS: 'true' },
  });
  return `http://127.0.0.1:${inventory}`;
}
