import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished, vi } from 'vitest';
import { type ApiServer, startApiServer } from '../../../rig/apiserver/server.ts';
import { crdDefinitions } from '../../api/crd/definition.ts';
import { labels, operatorLease } from '../../api/names.ts';
import type { OpenstackConfig } from '../../api/openstackconfig.ts';
import { cluster, config, node, port } from '../../explain/testing/healthy.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { createKubeClient } from '../../kube/client/http-client.ts';
import { deployments, leases, namespaces } from '../../kube/core-resources.ts';
import { systemClock } from '../../time/clock.ts';
import { openstackConfigs } from '../facts/kinds.ts';
import { cliMain } from '../main-cli.ts';
import { writeFakeKubectl } from './fake-kubectl.ts';

/** Answer of the recorded operator: a body, or a status with a body. */
export type Answer = object | ((body: unknown) => object);
export interface Refused {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
}

export interface Scene {
  readonly api: ApiServer;
  readonly client: KubeClient;
  /** Answers by path with query; a changed entry counts for the next request. */
  readonly answers: Map<string, Answer>;
  /** Requests as "METHOD path". */
  readonly requests: string[];
  readonly folder: string;
  /** Runs a command; returns exit status and output. */
  run(...argv: readonly string[]): Promise<{ status: number; out: string; err: string }>;
}

export interface SceneOptions {
  readonly user?: string;
  readonly forwardError?: string;
  readonly leader?: string;
  readonly withoutLease?: boolean;
}

export const home = 'multinic-operator-system';

/** A management cluster with one OpenstackConfig, and an operator with recorded answers. */
export async function startScene(options: SceneOptions = {}): Promise<Scene> {
  const api = await startApiServer({ crds: Object.values(crdDefinitions()) });
  onTestFinished(() => api.close());
  const client = createKubeClient(api.access, { clock: systemClock });
  onTestFinished(() => client[Symbol.asyncDispose]());
  await fill(client, options);
  const answers = healthyAnswers();
  const requests: string[] = [];
  const operatorPort = await serveAnswers(answers, requests);
  const folder = await mkdtemp(join(tmpdir(), 'multinic-cli-test-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const access = options.user === undefined ? api.access : api.accessAs(options.user);
  const server = { url: api.url, token: await access.token() };
  const { forwardError } = options;
  const targets = { servers: { '': server, prod: server, 'biz-context': server }, operatorPort };
  const kubectl = await writeFakeKubectl(folder, {
    ...targets,
    ...(forwardError === undefined ? {} : { forwardError }),
  });
  vi.stubEnv('MULTINIC_KUBECTL', kubectl);
  onTestFinished(() => void vi.unstubAllEnvs());
  return { api, client, answers, requests, folder, run };
}

async function fill(client: KubeClient, { leader, withoutLease = false }: SceneOptions) {
  for (const name of [home, 'multinic-system']) {
    await client.create(namespaces, { metadata: { name } });
  }
  const holderIdentity = leader ?? 'multinic-operator-controller-manager-7f9c-x2k4p';
  const spec = {
    holderIdentity,
    leaseDurationSeconds: 15,
    renewTime: new Date().toISOString().replace('Z', '000Z'),
  };
  if (!withoutLease) {
    await client.create(leases, { metadata: { namespace: home, name: operatorLease }, spec });
  }
  for (const [component, name] of [
    ['operator', 'multinic-operator-controller-manager'],
    ['viola', 'viola-api'],
  ] as const) {
    const own = { [labels.component]: component, 'app.kubernetes.io/version': '0.2.0' };
    const template = {
      metadata: { labels: own },
      spec: { containers: [{ name: 'main', image: 'multinic:0.2.0' }] },
    };
    const deployment = { replicas: 1, selector: { matchLabels: own }, template };
    await client.create(deployments, {
      metadata: { namespace: home, name, labels: own },
      spec: deployment,
    });
    const ref = { namespace: home, name };
    await client.patchStatus(deployments, ref, { status: { replicas: 1, readyReplicas: 1 } });
  }
  await createConfig(client, config);
}

export async function createConfig(client: KubeClient, object: OpenstackConfig): Promise<void> {
  const { metadata, spec, status } = object;
  const { namespace, name } = metadata;
  await client.create(openstackConfigs, { metadata: { namespace, name }, spec });
  await client.patchStatus(openstackConfigs, { namespace, name }, { status });
}

function healthyAnswers(): Map<string, Answer> {
  const nodes = [node(17), node(18), node(19)];
  return new Map<string, Answer>([
    ['GET /healthz', { status: 'ok' }],
    ['GET /version', { version: '0.2.0', commit: 'abc', node: 'v24', agentProtocols: [1, 2] }],
    ['GET /v1/clusters', { items: [cluster] }],
    ['GET /v1/nodes', { items: nodes }],
    ...nodes.map((each) => [`GET /v1/nodes/biz-1/${each.nodeName}`, each] as const),
    ['GET /v1/ports', { items: [port] }],
  ]);
}

async function serveAnswers(answers: Map<string, Answer>, requests: string[]): Promise<number> {
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const { method = '', url = '' } = incoming;
      requests.push(`${method} ${url}`);
      const [path] = url.split('?');
      const found = answers.get(`${method} ${url}`) ?? answers.get(`${method} ${path}`);
      const text = Buffer.concat(chunks).toString();
      const body: unknown = text === '' ? undefined : JSON.parse(text);
      const answer =
        typeof found === 'function' ? (found as (body: unknown) => object)(body) : found;
      const missing = { status: 404, code: 'NoSuchRoute', detail: `no route ${method} ${path}` };
      const sent = answer ?? missing;
      response.writeHead(isRefused(sent) ? sent.status : 200, {
        'content-type': 'application/json',
      });
      response.end(JSON.stringify(sent));
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

function isRefused(answer: object): answer is Refused {
  return 'code' in answer && 'detail' in answer;
}

async function run(name = '', ...argv: readonly string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const log = vi.spyOn(console, 'log').mockImplementation((text: string) => void out.push(text));
  const error = vi
    .spyOn(console, 'error')
    .mockImplementation((text: string) => void err.push(text));
  try {
    const status = await cliMain(name, ['--lang', 'en', ...argv]);
    return { status, out: out.join('\n'), err: err.join('\n') };
  } finally {
    log.mockRestore();
    error.mockRestore();
  }
}
