import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ZodError } from 'zod';
import type { FaultProxy } from './fault-proxy.ts';
import { type RuleInput, UnmeetableRule } from './rules.ts';

export interface Control extends AsyncDisposable {
  readonly url: string;
}

interface Reply {
  readonly status: number;
  readonly body: unknown;
}

/** Serves the commands for a proxy: `POST /rules`, `GET /rules`, `DELETE /rules[/ID]`, `GET /requests`. */
export async function startControl(proxy: FaultProxy, port = 0): Promise<Control> {
  const server = createServer((request, response) => {
    void reply(proxy, request).then(({ status, body }) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function reply(proxy: FaultProxy, request: IncomingMessage): Promise<Reply> {
  const [, what, id] = (request.url ?? '').split('/');
  const command = `${request.method} /${what}`;
  if (command === 'GET /requests') return { status: 200, body: proxy.requests };
  if (command === 'GET /rules') return { status: 200, body: proxy.rules };
  if (command === 'POST /rules') return addRule(proxy, request);
  if (command !== 'DELETE /rules') return { status: 404, body: { problem: 'no such command' } };
  return clearRules(proxy, id);
}

function clearRules(proxy: FaultProxy, id: string | undefined): Reply {
  try {
    proxy.clear(id);
    return { status: 200, body: proxy.rules };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { status: 404, body: { problem: error.message } };
  }
}

async function addRule(proxy: FaultProxy, request: IncomingMessage): Promise<Reply> {
  const pieces: Buffer[] = [];
  for await (const piece of request as AsyncIterable<Buffer>) pieces.push(piece);
  try {
    const rule = JSON.parse(Buffer.concat(pieces).toString()) as RuleInput;
    return { status: 201, body: { id: proxy.add(rule) } };
  } catch (error) {
    const isRefusal =
      error instanceof ZodError || error instanceof SyntaxError || error instanceof UnmeetableRule;
    if (!isRefusal) throw error;
    return { status: 400, body: { problem: error.message } };
  }
}
