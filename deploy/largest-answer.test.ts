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
/** What one answer of a server comes to that knows no pages. */
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

/** What this program prints when it runs in the heap of a part. */
async function within(part: 'controller' | 'viola' | 'operator', program: string): Promise<string> {
  const source = `
    import { systemClock as clock } from '${sources}/time/clock.ts';
    const url = '${url}';
    ${program}`;
  const flags = [...heapFlags(part), '--input-type=module', '-e', source];
  return (await run(process.execPath, flags)).stdout;
}

describe('an answer that is larger than the heap of a part', () => {
  it.each(['controller', 'viola', 'operator'] as const)(
    'is an error of the list of the %s, not its end',
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

  it('is an error of what the operator asks OpenStack, not its end', async () => {
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
