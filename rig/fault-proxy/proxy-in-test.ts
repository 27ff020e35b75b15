import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { Client } from 'undici';
import { caCert, serverCert, serverKey } from '../../src/kube/testing/certificates.ts';
import {
  disposeAfterTest,
  type Script,
  startScriptedServer,
} from '../../src/kube/testing/scripted-server.ts';
import { type FaultProxy, type FaultProxyOptions, startFaultProxy } from './fault-proxy.ts';

/** Answers with what was asked. */
export const hello: Script = ({ method, path }, response) => void response.end(`${method} ${path}`);

/** A server that counts what it carries out, a proxy before it, and a client with one connection. */
export async function setUp(script: Script = hello, options: Partial<FaultProxyOptions> = {}) {
  const server = await startScriptedServer(script);
  return behindProxy(server, { target: server.url, ...options });
}

/** The same with TLS on both sides of the proxy. */
export async function setUpSecure(script: Script = hello) {
  const server = await startScriptedServer(script, { cert: serverCert, key: serverKey });
  return behindProxy(server, { target: server.url, identity: { ca: caCert } });
}

async function behindProxy<T extends AsyncDisposable>(server: T, options: FaultProxyOptions) {
  const proxy = await startFaultProxy(options);
  const client = clientOf(proxy);
  disposeAfterTest(proxy, server);
  return { server, proxy, client };
}

/** One connection to the proxy. */
export function clientOf({ url, ca }: FaultProxy): Client {
  const client = new Client(url, ca === undefined ? {} : { connect: { ca } });
  disposeAfterTest({ [Symbol.asyncDispose]: () => client.destroy() });
  return client;
}

/** A proxy before a server that sends back each byte it gets. */
export async function setUpEcho(options: Partial<FaultProxyOptions> = {}) {
  const sockets = new Set<Socket>();
  const received: string[] = [];
  const server = createServer((socket) => {
    socket.on('data', (piece) => received.push(String(piece)));
    sockets.add(socket.on('error', () => undefined).on('close', () => sockets.delete(socket)));
    socket.pipe(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const proxy = await startFaultProxy({ target: `tcp://127.0.0.1:${port}`, ...options });
  disposeAfterTest(proxy, { [Symbol.asyncDispose]: async () => void server.close() });
  return { proxy, sockets, received };
}

export async function get(client: Client, path = '/a') {
  const { statusCode, headers, body } = await client.request({ method: 'GET', path });
  return { status: statusCode, headers, text: await body.text() };
}

/** What came of an answer until it ended, broke or stood still: its status and text, and the code of its error. */
export async function begunAnswer(client: Client, path = '/a') {
  const { statusCode, body } = await client.request({ method: 'GET', path });
  let text = '';
  body.on('data', (piece: Buffer) => {
    text += String(piece);
  });
  const end = Promise.withResolvers<string>();
  body.on('error', (error: Error & { readonly code?: string }) => end.resolve(error.code ?? ''));
  body.on('end', () => end.resolve('end'));
  const still = new Promise<string>((resolve) => setTimeout(resolve, 300, 'hangs'));
  const how = await Promise.race([end.promise, still]);
  return { status: statusCode, text, how };
}

/** Whether something ends within a time in which it would have ended if nothing held it up. */
export async function hangs(work: Promise<unknown>): Promise<boolean> {
  const late = new Promise((resolve) => setTimeout(resolve, 200, 'late'));
  return (await Promise.race([work.catch(() => 'failed'), late])) === 'late';
}
