import { createHash, randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { identities } from '../../../rig/chain/identities.ts';
import type { ControlPlane } from '../../../rig/control-plane/control-plane.ts';
import { untilEstablished } from '../../../rig/control-plane/established.ts';
import { freePorts } from '../../../rig/parts/free-ports.ts';
import { mortalEnv } from '../../../rig/parts/mortal.ts';
import { controllerPart, operatorPart, violaPart } from '../../../rig/parts/parts.ts';
import { Supervisor } from '../../../rig/parts/supervisor.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { mortalAgentImage, packMortalAgent } from './agent-image.ts';
import { encryptKey, type Ground, openGround, provider } from './ground.ts';

const root = join(import.meta.dirname, '../../..');

/** The chain with parts that are processes of this machine, each of which can be ended at one of its writes. */
export interface Processes extends Ground, AsyncDisposable {
  readonly parts: Supervisor;
  readonly inventory: { fetch(path: string): Promise<Response> };
}

/** Brings everything up, or nothing: what was started is taken down again when a step fails. */
export async function openProcesses(say: (line: string) => void): Promise<Processes> {
  await using stack = new AsyncDisposableStack();
  const ground = await openGround(stack, { say, images: [], pods: false });
  const { archive } = await packMortalAgent(ground.directory);
  await ground.node.importImage(archive);
  await prepareClusters(ground);
  const { parts, inventoryUrl } = await startParts(stack, ground);
  const kept = stack.move();
  return {
    ...ground,
    parts,
    inventory: { fetch: (path) => fetch(inventoryUrl + path) },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** Kinds, namespaces and the rights of each part, as an installation has them. */
async function prepareClusters({ management, business }: Ground): Promise<void> {
  await apply(management, 'rbac/management.yaml', 'crds', 'rbac/operator.yaml', 'rbac/viola.yaml');
  await apply(business, 'rbac/namespaces.yaml', 'crds', 'rbac/controller.yaml');
  await apply(business, 'rbac/viola-business.yaml');
  for (const cluster of [management, business]) {
    await untilEstablished(cluster);
  }
}

async function apply(cluster: ControlPlane, ...files: readonly string[]): Promise<void> {
  for (const file of files) {
    await cluster.kubectl(['apply', '--server-side', '-f', join(root, 'deploy', file)]);
  }
}

async function startParts(stack: AsyncDisposableStack, ground: Ground) {
  const { management, business, contrabass, directory } = ground;
  const token = randomBytes(24).toString('hex');
  const tokenFile = join(directory, 'tokens.yaml');
  const operatorToken = join(directory, 'operator-token');
  const sha256 = createHash('sha256').update(token).digest('hex');
  const grants = [
    { name: 'operator', sha256, providers: [provider], verbs: ['read', 'write', 'delete'] },
  ];
  await writeFile(tokenFile, JSON.stringify(grants), { mode: 0o600 });
  await writeFile(operatorToken, token, { mode: 0o600 });
  await register(
    management,
    await readFile(await business.userKubeconfig(identities.writer), 'utf8'),
  );

  const [viola = 0, controller = 0, health = 0, inventory = 0] = await freePorts(4);
  const env = { ...mortalEnv, LEASE_DURATION: '5s' };
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
      agentImage: mortalAgentImage,
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
  return { parts, inventoryUrl: `http://127.0.0.1:${inventory}` };
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
