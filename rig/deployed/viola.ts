import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { parse } from 'yaml';
import type { Interface } from './node-config.ts';

/**
 * Stands for the deployed Viola test API: takes node configs from anybody and applies them with kubectl, all at once, in the
 * cluster that its routing file names for the provider. Nodes of an unknown provider go to the default target, without one to
 * its own cluster, unless the file is strict. Of what is posted it keeps what the first generation knew.
 */
interface Posted {
  readonly nodeName?: string;
  readonly instanceId?: string;
  readonly interfaces?: readonly Interface[];
}

interface Target {
  readonly providerId: string;
  readonly kubeApiServer: string;
  readonly kubeToken: string;
  readonly kubeCaPath: string;
  readonly namespace: string;
}

const { env } = process;
const routing = parse(await readFile(env['ROUTING_CONFIG'] ?? '', 'utf8')) as {
  readonly strict?: boolean;
  readonly default?: Partial<Target>;
  readonly targets?: readonly Partial<Target>[];
};
/** Its own cluster. */
const own: Partial<Target> = {
  ...(env['KUBE_API_SERVER'] ? { kubeApiServer: env['KUBE_API_SERVER'] } : {}),
  ...(env['KUBE_CA_PATH'] ? { kubeCaPath: env['KUBE_CA_PATH'] } : {}),
  ...(env['KUBE_TOKEN'] ? { kubeToken: env['KUBE_TOKEN'] } : {}),
  namespace: env['TARGET_NAMESPACE'] ?? 'multinic-system',
};
/** How late it answers. */
const lateMs = Number(env['STAND_IN_LATE_MS'] ?? 100);

class Refused extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

function objectOf(posted: Posted, providerId: string, namespace: string): object {
  const name = posted.nodeName?.trim() ?? '';
  if (name === '') throw new Refused(400, 'nodeName is required');
  const interfaces = (posted.interfaces ?? []).map(
    ({ id, name: nic, macAddress, address, cidr, mtu }) => {
      const index = /^multinic([0-9]+)$/.exec(nic ?? '')?.[1];
      return {
        id: index === undefined ? (id ?? 0) : Number(index),
        name: nic,
        macAddress,
        address,
        cidr,
        mtu,
      };
    },
  );
  return {
    apiVersion: 'multinic.io/v1alpha1',
    kind: 'MultiNicNodeConfig',
    metadata: {
      name: name.toLowerCase(),
      namespace,
      labels: {
        'multinic.io/node-name': name,
        'multinic.io/instance-id': posted.instanceId,
        'multinic.io/provider-id': providerId,
      },
    },
    spec: { nodeName: name, instanceId: posted.instanceId, interfaces },
  };
}

function targetOf(providerId: string): Partial<Target> {
  const target = routing.targets?.find((one) => one.providerId === providerId);
  if (target === undefined && routing.strict) {
    throw new Refused(400, `no route for providerID "${providerId}"`);
  }
  return { ...own, ...routing.default, ...target };
}

async function post(nodes: readonly Posted[], providerId: string): Promise<object> {
  if (nodes.length === 0) throw new Refused(400, 'empty payload');
  const target = targetOf(providerId);
  const { namespace = '' } = target;
  // The deployed CRD requires interfaces, and kubectl goes on after the object that is refused.
  const empty = nodes.filter(({ interfaces = [] }) => interfaces.length === 0);
  const objects = nodes
    .filter((node) => !empty.includes(node))
    .map((node) => JSON.stringify(objectOf(node, providerId, namespace)));
  const output = objects.length > 0 ? await kubectl(target, objects.join('\n---\n')) : '';
  if (empty.length === 0) return { applied: nodes.length, output };
  const names = empty.map(({ nodeName }) => `"${nodeName}"`).join(', ');
  throw new Refused(500, `kubectl apply failed: ${names} is invalid: spec.interfaces: Required`);
}

/** Nodes with the number of their interfaces, for who reads the log. */
function countsOf(nodes: readonly Posted[]): string {
  return nodes.map(({ nodeName, interfaces = [] }) => `${nodeName}:${interfaces.length}`).join(' ');
}

/** `kubectl apply`, as there: what came before the one that fails is applied all the same. */
function kubectl(
  { kubeApiServer, kubeCaPath, kubeToken, namespace }: Partial<Target>,
  manifest: string,
): Promise<string> {
  const where = [
    `--server=${kubeApiServer}`,
    `--certificate-authority=${kubeCaPath}`,
    `--token=${kubeToken}`,
    `--namespace=${namespace}`,
  ];
  return new Promise((resolve, reject) => {
    const path = env['KUBECTL_PATH'] ?? 'kubectl';
    const [program, ...first] = path.endsWith('.ts') ? [process.execPath, path] : [path];
    const child = execFile(
      program ?? path,
      [...first, '--kubeconfig=/dev/null', ...where, 'apply', '-f', '-'],
      { timeout: 30_000 },
      (error, stdout, stderr) => {
        if (error) reject(new Refused(500, `kubectl apply failed: ${stderr || error.message}`));
        else resolve(stdout + stderr);
      },
    );
    child.stdin?.end(manifest);
  });
}

const server = createServer((request, response) => {
  const providerId = String(request.headers['x-provider-id'] ?? '').trim();
  let posted = '';
  const say = (status: number, body: string): void => {
    console.log(request.method, request.url, providerId, status, posted);
    setTimeout(() => response.writeHead(status).end(body), lateMs);
  };
  if (request.url === '/healthz') return say(200, 'ok');
  if (request.method !== 'POST') return say(405, 'method not allowed');
  text(request)
    .then((body) => {
      const nodes = JSON.parse(body) as readonly Posted[];
      posted = countsOf(nodes);
      return post(nodes, providerId);
    })
    .then((answer) => say(200, JSON.stringify(answer)))
    .catch((error: unknown) => {
      say(
        error instanceof Refused ? error.status : 400,
        error instanceof Error ? error.message : 'invalid json',
      );
    });
  return undefined;
});
const [host = '127.0.0.1', port = '8080'] = (env['LISTEN_ADDR'] ?? ':8080').split(':');
server.listen(Number(port), host || undefined);
