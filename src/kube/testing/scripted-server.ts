import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** One request as the server read it. */
export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly socket: Socket;
}

export type Script = (request: ReceivedRequest, response: ServerResponse) => void;

/** An HTTP server for tests that answers what a script tells it to, broken answers too. */
export interface ScriptedServer extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly ReceivedRequest[];
  /** Connections accepted so far. */
  readonly connections: number;
}

/** Starts a server on loopback; with `tls` it speaks HTTPS. */
export async function startScriptedServer(
  script: Script,
  tls?: ServerOptions,
): Promise<ScriptedServer> {
  const requests: ReceivedRequest[] = [];
  let connections = 0;
  const listener = (incoming: IncomingMessage, response: ServerResponse): void => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const request = seen(incoming, Buffer.concat(chunks).toString());
      requests.push(request);
      script(request, response);
    });
  };
  const server = tls ? createTlsServer(tls, listener) : createServer(listener);
  server.on('connection', () => connections++);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    requests,
    get connections() {
      return connections;
    },
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function seen(
  { method = '', url = '', headers, socket }: IncomingMessage,
  body: string,
): ReceivedRequest {
  const { pathname: path, searchParams: query } = new URL(url, 'http://server');
  return { method, path, query, headers, body, socket };
}

/** Answers with JSON. */
export function answer(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

/** Answers as the API server refuses: with a Status. */
export function refuse(
  response: ServerResponse,
  code: number,
  reason: string,
  headers?: Readonly<Record<string, string>>,
): void {
  answer(
    response,
    code,
    { kind: 'Status', status: 'Failure', code, reason, message: 'no' },
    headers,
  );
}

/** One line of a watch. */
export function line(type: string, object: unknown): string {
  return `${JSON.stringify({ type, object })}\n`;
}

/** Disposes of these, in this order, when the current test has finished. */
export function disposeAfterTest(...disposables: readonly AsyncDisposable[]): void {
  onTestFinished(async () => {
    for (const each of disposables) await each[Symbol.asyncDispose]();
  });
}
