// A business cluster with many MultiNicNodeConfigs and Nodes, served as an API server does; for the bench of the controller's memory.
//   big-cluster.ts CONFIGS NODES     prints its URL and serves until it is killed
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const [configs = 10_000, nodes = 1_000] = process.argv.slice(2).map(Number);

function hex(value: number, width: number): string {
  return value.toString(16).padStart(width, '0').slice(-width);
}

function uuid(n: number): string {
  return `${hex(n, 8)}-1111-4222-8333-${hex(n * 7919, 12)}`;
}

function meta(name: string, n: number) {
  return { name, uid: uuid(n), resourceVersion: String(1_000 + n), generation: 3 };
}

/** 5 kB, as Viola and the controller write it for three NICs. */
function config(n: number) {
  const name = `node-${String(n).padStart(5, '0')}`;
  const nics = [0, 1, 2].map((id) => ({
    id,
    name: `multinic${id}`,
    portId: uuid(n * 10 + id),
    macAddress: `fa:16:3e:${[n >> 8, n, id].map((byte) => (byte & 255).toString(16).padStart(2, '0')).join(':')}`,
    address: `10.${id}.${(n >> 8) & 255}.${n & 255}`,
    cidr: `10.${id}.0.0/16`,
    mtu: 1450,
    networkId: uuid(900_000 + id),
    subnetId: uuid(800_000 + id),
    gateway: `10.${id}.0.1`,
  }));
  const fields = Array.from({ length: 30 }, (_, k) => [`f:field${k}`, { '.': {}, 'f:x': {} }]);
  const manager = {
    manager: 'viola',
    operation: 'Apply',
    apiVersion: 'multinic.io/v1',
    fieldsType: 'FieldsV1',
    fieldsV1: Object.fromEntries(fields) as unknown,
  };
  const ready = {
    status: 'True',
    reason: 'Configured',
    message: 'all is well with it',
    lastTransitionTime: '2026-01-01T00:00:00Z',
    observedGeneration: 3,
  };
  return {
    metadata: {
      ...meta(name, n),
      namespace: 'multinic-system',
      finalizers: ['multinic.io/agent'],
      labels: { 'multinic.io/instance-id': uuid(n), 'multinic.io/provider-id': 'p1' },
      managedFields: [manager, { ...manager, manager: 'controller' }],
    },
    spec: {
      providerId: 'p1',
      nodeName: name,
      instanceId: uuid(n),
      specHash: uuid(n) + uuid(n),
      interfaces: nics,
    },
    status: {
      observedGeneration: 3,
      state: 'Configured',
      lastProcessed: '2026-01-01T00:00:00Z',
      conditions: ['Accepted', 'Ready', 'NameDiffers'].map((type) => ({ type, ...ready })),
      interfaceStatuses: nics.map(({ id, name: nic, macAddress }) => ({
        interfaceIndex: id,
        id,
        name: nic,
        macAddress,
        status: 'Configured',
        state: 'Configured',
        reason: 'Configured',
        message: 'configured and verified from the kernel',
      })),
    },
  };
}

/** 14 kB, most of it images. */
function node(n: number) {
  const images = Array.from({ length: 40 }, (_, k) => ({
    names: [
      `registry.example.com/image-${k}@sha256:${'a'.repeat(64)}`,
      `registry.example.com/image-${k}:v1`,
    ],
    sizeBytes: 123_456_789,
  }));
  return {
    metadata: meta(`node-${String(n).padStart(5, '0')}`, n),
    status: {
      addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
      nodeInfo: { systemUUID: uuid(n), bootID: uuid(n), machineID: uuid(n) },
      images,
    },
  };
}

function list(
  response: ServerResponse,
  query: URLSearchParams,
  make: (n: number) => object,
  of: number,
) {
  const from = Number(query.get('continue') ?? 0);
  const to = Math.min(of, from + Number(query.get('limit') ?? 500));
  const items = Array.from({ length: to - from }, (_, n) => make(from + n));
  const more = to < of ? { continue: String(to) } : {};
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ metadata: { resourceVersion: '9000000', ...more }, items }));
}

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://server');
  if (searchParams.has('watch')) {
    // Ends after a second, told what is no change, so that a list that is due begins.
    const bookmark = { type: 'BOOKMARK', object: { metadata: { resourceVersion: '9000001' } } };
    response.flushHeaders();
    setTimeout(() => response.end(`${JSON.stringify(bookmark)}\n`), 1_000);
  } else if (pathname.endsWith('/nodes')) list(response, searchParams, node, nodes);
  else list(response, searchParams, config, configs);
});
server.listen(0, '127.0.0.1', () =>
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
);
