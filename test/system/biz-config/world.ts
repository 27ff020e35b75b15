import { execFile } from 'node:child_process';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  prepareBusiness,
  prepareManagement,
  registerCluster,
} from '../../../rig/chain/clusters.ts';
import { identities } from '../../../rig/chain/identities.ts';
import { type ControlPlane, startControlPlane } from '../../../rig/control-plane/control-plane.ts';
import { untilEstablished } from '../../../rig/control-plane/established.ts';
import { type Node, startNode } from '../../../rig/control-plane/node.ts';
import { runScript } from '../../../rig/hosts/box/script.ts';
import { freePorts } from '../../../rig/parts/free-ports.ts';
import { controllerPart, violaPart } from '../../../rig/parts/parts.ts';
import { within } from '../../../rig/parts/program.ts';
import { Supervisor } from '../../../rig/parts/supervisor.ts';
import { crdDefinitions } from '../../../src/api/crd/definition.ts';
import { nodeConfigsPath, type PostedNode } from '../../../src/api/node-configs-http.ts';
import { loadKubeconfig } from '../../../src/kube/access/kubeconfig.ts';
import type { KubeClient } from '../../../src/kube/client/client.ts';
import { createKubeClient } from '../../../src/kube/client/http-client.ts';
import { systemClock as clock, systemRandom as random } from '../../../src/time/clock.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../../..');

export const provider = '0c497169-a104-4448-afde-f27b79fca904';

/** A node with a server id, and names of plugged NICs before the configuration. */
interface Worker {
  readonly node: Node;
  readonly instanceId: string;
}

/** One real cluster with Viola and the controller as processes, and agents in Pods on nodes. */
export interface BizConfigCluster extends AsyncDisposable {
  readonly plane: ControlPlane;
  readonly client: KubeClient;
  readonly workers: readonly [Worker, Worker];
  /** Applies manifests as a person does. */
  apply(...objects: readonly object[]): Promise<void>;
  /** Runs `multinic …` with the administrator's kubeconfig; rejects when the command fails. */
  multinic(
    ...args: readonly string[]
  ): Promise<{ readonly stdout: string; readonly stderr: string }>;
  /** POSTs nodes to Viola like an operator that sends an object per node. */
  post(nodes: readonly PostedNode[]): Promise<void>;
}

export async function openWorld(): Promise<BizConfigCluster> {
  await using stack = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'multinic-biz-config-'));
  stack.defer(() => rm(directory, { recursive: true }));
  const plane = stack.use(await startControlPlane('bizcfg'));
  const crds = Object.values(crdDefinitions()).map((crd) => JSON.stringify(crd));
  await plane.kubectl(['apply', '--server-side', '-f', '-'], crds.join('\n'));
  await untilEstablished(plane);
  const access = await loadKubeconfig(plane.kubeconfig);
  const client = stack.use(createKubeClient(access, { clock, random, userAgent: 'people' }));
  await prepareManagement(client);
  await prepareBusiness(client);
  const archive = join(directory, 'agent.tar');
  await runScript(join(root, 'rig/agent-image/pack'), [archive]);
  const workers: Worker[] = [];
  for (const at of [0, 1]) {
    const instanceId = randomUUID();
    const kind = { kind: 'box', profile: 'netplan', systemUUID: instanceId } as const;
    const node = stack.use(await startNode(plane, `k8s-worker-0${at + 1}`, kind));
    await node.importImage(archive);
    workers.push({ node, instanceId });
  }
  const [first, second] = workers;
  if (!first || !second) throw new Error('two nodes were to start');
  const supervisor = stack.use(new Supervisor(directory, clock));
  const [violaPort = 0, controllerPort = 0] = await freePorts(2);
  const token = randomBytes(24).toString('hex');
  await startParts(supervisor, { plane, client, directory, token, violaPort, controllerPort });
  const kept = stack.move();
  return {
    plane,
    client,
    workers: [first, second],
    async apply(...objects) {
      const text = objects.map((object) => JSON.stringify(object)).join('\n');
      await plane.kubectl(['apply', '-f', '-'], text);
    },
    multinic(...args) {
      const { node, main } = within(join(root, 'dist'));
      const env = { ...process.env, KUBECONFIG: plane.kubeconfig };
      return run(node, [main, ...args], { env });
    },
    async post(nodes) {
      const url = `http://127.0.0.1:${violaPort}${nodeConfigsPath}`;
      const headers = {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'x-provider-id': provider,
      };
      const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(nodes) });
      const body = await answer.text();
      if (!answer.ok) throw new Error(`${answer.status} ${body}`);
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

interface PartsOptions {
  readonly plane: ControlPlane;
  readonly client: KubeClient;
  readonly directory: string;
  readonly token: string;
  readonly violaPort: number;
  readonly controllerPort: number;
}

async function startParts(supervisor: Supervisor, options: PartsOptions): Promise<void> {
  const { plane, client, directory, token, violaPort, controllerPort } = options;
  const tokenFile = join(directory, 'tokens.yaml');
  const sha256 = createHash('sha256').update(token).digest('hex');
  const verbs = ['read', 'write', 'delete'];
  const grants = [{ name: 'operator', sha256, providers: ['*'], verbs }];
  await writeFile(tokenFile, JSON.stringify(grants), { mode: 0o600 });
  const kubeconfigOf = (identity: string) => plane.userKubeconfig(identity);
  await registerCluster(
    client,
    provider,
    await readFile(await kubeconfigOf(identities.writer), 'utf8'),
  );
  const viola = {
    kubeconfig: await kubeconfigOf(identities.viola),
    port: violaPort,
    tokenFile,
    clock,
  };
  await supervisor.start(violaPart(viola));
  await supervisor.start(
    controllerPart({
      kubeconfig: await kubeconfigOf(identities.controller),
      port: controllerPort,
      agentImage: 'localhost/multinic-agent:dev',
      clock,
    }),
  );
}
