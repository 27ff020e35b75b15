// A business cluster in which every MultiNicNodeConfig was brought about by a Job that is still there; for the bench of a
// restart of the controller. Prints its URL as JSON; `GET /bench` tells what was written.
//   restart-cluster.ts CONFIGS RUNNING     RUNNING of the Jobs are at work
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Json } from '../../rig/apiserver/objects/json.ts';
import { mergePatch } from '../../rig/apiserver/verbs/merge-patch.ts';
import { protocol } from '../../src/api/job.ts';
import { finalizers, namespaces } from '../../src/api/names.ts';
import { specHash } from '../../src/api/spec-hash.ts';
import { begun } from '../../src/controller/jobs/applied.ts';
import { jobOf } from '../../src/controller/jobs/job.ts';
import { acceptSpec, contentHash } from '../../src/controller/jobs/request.ts';
import type { AgentTask } from '../../src/controller/jobs/runner.ts';
import { machineOf } from '../../src/controller/objects/machine.ts';
import { readNodeConfig } from '../../src/controller/objects/stores.ts';
import type { Node } from '../../src/kube/core-resources.ts';
import type { KubeObject } from '../../src/kube/object.ts';

type NodeInfo = NonNullable<NonNullable<Node['status']>['nodeInfo']>;

const [count = 0, running = 0] = process.argv.slice(2).map(Number);
const at = new Date(Date.now() - 60_000);
const template = {
  namespace: namespaces.agents,
  image: 'agent',
  imagePullPolicy: 'Never',
  imagePullSecrets: [],
  serviceAccount: 'multinic-agent',
  priorityClass: undefined,
  systemBus: false,
  resources: { requests: { cpu: '0', memory: '0' }, limits: { memory: '256Mi' } },
  deadlineSeconds: 600,
  ttlSeconds: 86_400,
} as const;

function uuid(kind: number, n: number): string {
  return `${String(kind).padStart(8, '0')}-1111-4222-8333-${String(n).padStart(12, '0')}`;
}

function meta(kind: number, n: number, name: string) {
  const creationTimestamp = at.toISOString();
  const resourceVersion = String(1_000 + kind * count + n);
  return { name, uid: uuid(kind, n), resourceVersion, generation: 1, creationTimestamp };
}

function nodeOf(n: number): Node {
  const id = uuid(9, n);
  return {
    metadata: meta(1, n, `node-${n}`),
    status: {
      addresses: [{ type: 'InternalIP', address: `10.9.${n >> 8}.${n & 255}` }],
      conditions: [{ type: 'Ready', status: 'True' }],
      nodeInfo: { systemUUID: id, bootID: id, machineID: id.replaceAll('-', '') } as NodeInfo,
    },
  };
}

function configOf(n: number) {
  const interfaces = [0, 1, 2].map((id) => ({
    id,
    name: `multinic${id}`,
    portId: uuid(20 + id, n),
    macAddress: `fa:16:3e:${[n >> 8, n & 255, id].map((byte) => byte.toString(16).padStart(2, '0')).join(':')}`,
    address: `10.${id}.${n >> 8}.${n & 255}`,
    cidr: `10.${id}.0.0/16`,
    mtu: 1450,
  }));
  const content = { nodeName: `node-${n}`, instanceId: uuid(9, n), interfaces };
  return {
    metadata: {
      ...meta(2, n, `node-${n}`),
      namespace: namespaces.system,
      finalizers: [finalizers.nodeConfig],
    },
    // As Viola writes it.
    spec: { ...content, specHash: specHash(content) },
  };
}

/** The objects of one node, as the controller and its Job left them. */
function madeFor(n: number) {
  const [node, config] = [nodeOf(n), configOf(n)];
  const machine = machineOf(node);
  const content = contentHash(node, acceptSpec(readNodeConfig(config)));
  const order: AgentTask = {
    uid: config.metadata.uid,
    generation: 1,
    action: 'apply',
    attempt: 1,
    content,
    node: node.metadata.name,
    machine,
    family: 'netplan',
    instance: uuid(9, n),
    config: { namespace: namespaces.system, name: config.metadata.name },
  };
  const made = jobOf(order, template);
  const works = n < running;
  const record = begun(order, made.metadata.name, { protocol }, at);
  const applied = works ? record : { ...record, done: true };
  const spec = { ...made.spec, suspend: false };
  const complete = { type: 'Complete', status: 'True', lastTransitionTime: at.toISOString() };
  const job = {
    ...made,
    metadata: { ...made.metadata, ...meta(3, n, made.metadata.name) },
    spec,
    status: works ? { active: 1 } : { succeeded: 1, conditions: [complete] },
  };
  return { node, config: { ...config, status: { observedGeneration: 1, applied } }, job };
}

interface Stored {
  metadata: KubeObject['metadata'];
  status?: unknown;
}
const all = Array.from({ length: count }, (_, n) => madeFor(n));
const collections: Readonly<Record<string, Stored[]>> = {
  nodes: all.map(({ node }) => node),
  multinicnodeconfigs: all.map(({ config }) => config),
  [`${namespaces.agents}/jobs`]: all.map(({ job }) => job),
};
const watchers = new Map<string, Set<ServerResponse>>();
const writes: Record<string, number> = {};
const leases = new Map<string, Stored>();
let version = 1_000_000;

/** `jobs` of the agents' namespace are told apart from those of the objects' namespace. */
function collectionOf(path: string): string {
  const [, namespace, resource] = /namespaces\/([^/]+)\/([^/]+)/.exec(path) ?? [];
  if (resource === undefined) return path.split('/').at(-1) ?? '';
  return resource === 'multinicnodeconfigs' ? resource : `${namespace}/${resource}`;
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function list(response: ServerResponse, collection: string, query: URLSearchParams): void {
  const stored = collections[collection] ?? [];
  const from = Number(query.get('continue') ?? 0);
  const to = Math.min(stored.length, from + Number(query.get('limit') ?? 500));
  const more = to < stored.length ? { continue: String(to) } : {};
  const metadata = { resourceVersion: String(version), ...more };
  send(response, 200, { metadata, items: stored.slice(from, to) });
}

function watch(response: ServerResponse, collection: string, query: URLSearchParams): void {
  const following = watchers.get(collection) ?? new Set();
  watchers.set(collection, following.add(response));
  response.writeHead(200, { 'content-type': 'application/json' });
  response.flushHeaders();
  const end = setTimeout(() => response.end(), Number(query.get('timeoutSeconds')) * 1_000);
  response.once('close', () => {
    clearTimeout(end);
    following.delete(response);
  });
}

function renewed(given: Stored): Stored {
  const before = leases.get('lease');
  const metadata = { ...before?.metadata, ...given.metadata, resourceVersion: String(version) };
  const lease = { ...before, ...given, metadata };
  leases.set('lease', lease);
  return lease;
}

async function write(request: IncomingMessage, response: ServerResponse, path: string) {
  const given = JSON.parse(await text(request)) as Stored;
  version += 1;
  if (path.includes('/leases')) return send(response, 200, renewed(given));
  const collection = collectionOf(path);
  const what = `${request.method} ${collection}${path.endsWith('/status') ? '/status' : ''}`;
  writes[what] = (writes[what] ?? 0) + 1;
  const name = /multinicnodeconfigs\/([^/]+)\/status/.exec(path)?.[1];
  // Names end with their place in the collection.
  const object = collections[collection]?.[Number(name?.split('-').at(-1))];
  if (!object)
    return send(response, 201, { ...given, metadata: { ...given.metadata, uid: 'new' } });
  object.status = mergePatch(object.status as Json, given.status as Json);
  object.metadata = { ...object.metadata, resourceVersion: String(version) };
  for (const follower of watchers.get(collection) ?? []) {
    follower.write(`${JSON.stringify({ type: 'MODIFIED', object })}\n`);
  }
  return send(response, 200, object);
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://server');
  if (pathname === '/bench') return send(response, 200, writes);
  if (request.method !== 'GET') return write(request, response, pathname);
  if (pathname.includes('/leases/')) {
    const lease = leases.get('lease');
    return send(response, lease ? 200 : 404, lease ?? { code: 404, reason: 'NotFound' });
  }
  const collection = collectionOf(pathname);
  if (searchParams.has('watch')) return watch(response, collection, searchParams);
  return list(response, collection, searchParams);
}

const server = createServer((request, response) => void answer(request, response));
// The bench asks again after pauses, on a connection that is still open.
server.keepAliveTimeout = 600_000;
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}` })}\n`);
});
