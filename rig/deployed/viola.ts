import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { parse } from 'yaml';
import type { Interface } from './node-config.ts';

/**
 * Stands for the deployed Viola test API: takes node configs from anybody and applies them with kubectl, all at once, in the
 * cluster that its routing file names for the provider. Of what is posted it keeps what the first generation knew.
 */
interface Posted {
  readonly nodeName?: string;
  readonly instanceId?: string;
  readonly interfaces?: readonly Interface[];
}

interface Target {
  readonly providerId?: string;
  readonly kubeApiServer: string;
  readonly kubeToken: string;
  readonly kubeCaPath: string;
  readonly namespace?: string;
}

const { env } = process;
const routing = parse(await readFile(env['ROUTING_CONFIG'] ?? '', 'utf8')) as {
  readonly targets?: readonly Target[];
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

async function post(body: string, providerId: string): Promise<object> {
  const nodes = JSON.parse(body) as readonly Posted[];
  if (nodes.length === 0) throw new Refused(400, 'empty payload');
  const target = routing.targets?.find((one) => one.providerId === providerId);
  if (!target) throw new Refused(400, `no route for providerID "${providerId}"`);
  const namespace = target.namespace ?? 'multinic-system';
  const objects = nodes.map((node) => JSON.stringify(objectOf(node, providerId, namespace)));
  const output = await kubectl(target, namespace, objects.join('\n---\n'));
  return { applied: nodes.length, output };
}

/** `kubectl apply`, as there: what came before the one that fails is applied all the same. */
function kubectl(target: Target, namespace: string, manifest: string): Promise<string> {
  const where = [
    `--server=${target.kubeApiServer}`,
    `--certificate-authority=${target.kubeCaPath}`,
    `--token=${target.kubeToken}`,
    `--namespace=${namespace}`,
  ];
  return new Promise((resolve, reject) => {
    const child = execFile(
      env['KUBECTL_PATH'] ?? 'kubectl',
      ['--kubeconfig=/dev/null', ...where, 'apply', '-f', '-'],
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
  const say = (status: number, body: string): void => {
    console.log(request.method, request.url, providerId, status);
    setTimeout(() => response.writeHead(status).end(body), lateMs);
  };
  if (request.url === '/healthz') return say(200, 'ok');
  if (request.method !== 'POST') return say(405, 'method not allowed');
  text(request)
    .then((body) => post(body, providerId))
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
