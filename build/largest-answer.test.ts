import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { heapFlags } from '../src/process/heap.ts';

const run = promisify(execFile);
const sources = join(import.meta.dirname, '../src');
/** Bytes in a list answer from a server without paging. */
const answerBytes = 60 * 1024 * 1024;

const condition = { type: 'Ready', status: 'True', reason: 'Configured', message: 'all is well' };
const item = {
  metadata: { name: 'node', labels: { one: '1', two: '2' }, finalizers: ['multinic.io/agent'] },
  spec: { interfaces: [0, 1, 2].map((id) => ({ id, name: `multinic${id}`, mtu: 1450 })) },
  status: { conditions: [condition, condition, condition] },
};

let server: Server;
let url: string;

beforeAll(async () => {
  const text = JSON.stringify(item);
  const items = `${text},`.repeat(Math.ceil(answerBytes / text.length)) + text;
  const answer = Buffer.from(`{"metadata":{"resourceVersion":"1"},"items":[${items}]}`);
  server = createServer((_, response) => response.end(answer));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => {
  server.close().closeAllConnections();
});

/** Output of this program in the part's heap. */
async function within(part: 'controller' | 'viola' | 'operator', program: string): Promise<string> {
  const source = `
    import { systemClock as clock } from '${sources}/time/clock.ts';
    const url = '${url}';
    ${program}`;
  const flags = [...heapFlags(part), '--input-type=module', '-e', source];
  return (await run(process.execPath, flags)).stdout;
}

/** A Node as a busy kubelet reports it: 50 images, 12 kB. */
function nodeOf(index: number) {
  const image = `registry.example.com/team/app-${index}@sha256:${'a1b2'.repeat(16)}`;
  const images = Array.from({ length: 50 }, () => ({ names: [image, image], sizeBytes: 1 }));
  const nodeInfo = { systemUUID: `uuid-${index}`, machineID: `machine-${index}` };
  return { metadata: { name: `node-${index}` }, status: { nodeInfo, images } };
}

/** A server with this many Nodes, in pages. */
async function serveNodes(count: number): Promise<Server> {
  const pages = createServer(({ url: path = '' }, response) => {
    const { searchParams } = new URL(path, 'http://server');
    const from = Number(searchParams.get('continue') ?? 0);
    const to = Math.min(count, from + Number(searchParams.get('limit')));
    const items = Array.from({ length: to - from }, (_, at) => nodeOf(from + at));
    const next = to < count ? { continue: String(to) } : {};
    response.end(JSON.stringify({ metadata: { resourceVersion: '1', ...next }, items }));
  });
  await once(pages.listen(0, '127.0.0.1'), 'listening');
  return pages;
}

describe("an answer larger than the part's heap", () => {
  it.each(['controller', 'viola', 'operator'] as const)(
    'the list of the %s fails with an error; the process survives',
    async (part) => {
      const said = await within(
        part,
        `import { createKubeClient } from '${sources}/kube/client/http-client.ts';
         import { nodes } from '${sources}/kube/core-resources.ts';
         const client = createKubeClient({ server: url }, { clock });
         const error = await client.list(nodes, { limit: 500 }).catch((error) => error);
         console.log(error.reason);
         await client[Symbol.asyncDispose]();`,
      );
      expect(said).toBe('AnswerTooLarge\n');
    },
  );

  it("the operator's OpenStack request fails with an error; the process survives", async () => {
    const said = await within(
      'operator',
      `import { createTransport } from '${sources}/requests/transport.ts';
       const transport = createTransport({ clock });
       const ports = { service: 'neutron', method: 'GET', url: new URL(url), tls: {}, timeoutMs: 60_000 };
       const signal = new AbortController().signal;
       const read = async () => JSON.parse((await transport.send(ports, signal)).text);
       console.log((await read().catch((error) => error)).kind);
       await transport[Symbol.asyncDispose]();`,
    );
    expect(said).toBe('tooLarge\n');
  });
});

it('the controller finds a removed Node in the largest cluster within the heap limit', async () => {
  const pages = await serveNodes(5_000);
  const { port } = pages.address() as AddressInfo;
  const said = await within(
    'controller',
    `import { createKubeClient } from '${sources}/kube/client/http-client.ts';
     import { createIsNodeGone } from '${sources}/controller/deletion/node-gone.ts';
     const client = createKubeClient({ server: 'http://127.0.0.1:${port}' }, { clock });
     const isNodeGone = createIsNodeGone(client);
     const of = (instanceId) => ({ metadata: { name: 'config' }, spec: { instanceId } });
     const { signal } = new AbortController();
     console.log(await isNodeGone(of('uuid-4999'), signal));
     console.log(await isNodeGone(of('uuid-5000'), signal));
     await client[Symbol.asyncDispose]();`,
  ).finally(() => pages.close().closeAllConnections());
  expect(said).toBe('false\ntrue\n');
});
