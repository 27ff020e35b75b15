import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../../src/time/clock.ts';
import type { Failures, ServiceName } from './failures.ts';
import { notServed, Refusal } from './refusal.ts';
import { damaged, failsAtOnce, refusalReply, writeReply } from './replies.ts';
import type { Match, Reply, Routes } from './route.ts';

export interface ListenerOptions {
  readonly routes: Routes;
  readonly failures: Failures;
  readonly clock: Clock;
  readonly latencyMs: () => number;
  readonly port: number;
  /** Ends the requests that wait. */
  readonly lifetime: AbortSignal;
  /** Called for every request that arrives. */
  readonly onRequest: (service: ServiceName, method: string, path: string) => void;
}

/** Each service has a prefix, as behind one Apache; real deployments have their own ports or hosts. */
export const prefixes: Readonly<Record<ServiceName, string>> = {
  contrabass: '/contrabass',
  keystone: '/identity',
  neutron: '/network',
  nova: '/compute',
  glance: '/image',
  control: '/control',
};

// What neutron-server (eventlet) takes.
const requestLineLimit = 8_192;
const bodyLimit = 1024 * 1024;

/** Serves the routes on a loopback port; resolves when it listens. */
export async function listen(options: ListenerOptions): Promise<{ server: Server; port: number }> {
  const server = createServer({ maxHeaderSize: 65_536 }, (request, response) => {
    answer(options, request, response).catch((error: unknown) => {
      if (options.lifetime.aborted) return;
      response.statusCode = 500;
      response.end(error instanceof Error ? error.message : 'unknown error');
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, '127.0.0.1', resolve);
  });
  return { server, port: (server.address() as AddressInfo).port };
}

async function answer(
  options: ListenerOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method = 'GET', url: target = '/' } = request;
  if (`${method} ${target} HTTP/1.1`.length > requestLineLimit) {
    response.writeHead(414, { 'content-length': 0, connection: 'close' }).end();
    return;
  }
  const url = new URL(target, `http://${request.headers.host}`);
  const service = serviceOf(url.pathname);
  if (service === undefined) {
    response.writeHead(501).end(`no service has the path ${url.pathname}`);
    return;
  }
  const path = url.pathname.slice(prefixes[service].length) || '/';
  options.onRequest(service, method, path);
  const text = await bodyOf(request);
  if (service !== 'control') await delay(options);

  const failure = options.failures.take(service, path);
  if (failure !== undefined && failsAtOnce(failure, request, response)) return;
  const reply = await handled(options, { service, method, path, url, target, text, request });
  writeReply(response, failure === undefined ? reply : damaged(reply, failure), failure);
}

// Without latency nothing waits, so that a fake clock need not be moved.
async function delay({ clock, latencyMs, lifetime }: ListenerOptions): Promise<void> {
  if (latencyMs() > 0) await clock.sleep(latencyMs(), lifetime);
}

interface Arrived {
  readonly service: ServiceName;
  readonly method: string;
  readonly path: string;
  readonly url: URL;
  readonly target: string;
  readonly text: string;
  readonly request: IncomingMessage;
}

async function handled(options: ListenerOptions, arrived: Arrived): Promise<Reply> {
  const { service, method, path, url } = arrived;
  try {
    const match = options.routes.match(service, method, path);
    if (match === undefined) throw notServed(`${service} ${method} ${path}`);
    for (const key of url.searchParams.keys()) checkKey(options.routes, match, key);
    return await match.route.handle({
      params: match.params,
      query: url.searchParams,
      headers: singleHeaders(arrived.request),
      body: arrived.text === '' ? undefined : JSON.parse(arrived.text),
      origin: url.origin,
      target: arrived.target,
    });
  } catch (error) {
    if (error instanceof Refusal) return refusalReply(service, error);
    throw error;
  }
}

// Neutron judges unknown keys itself: most of them are a 400 there.
function checkKey(routes: Routes, { route }: Match, key: string): void {
  if (route.query?.includes(key)) routes.used(route, key);
  else if (route.service !== 'neutron') throw notServed(`${route.path}?${key}`);
}

function serviceOf(path: string): ServiceName | undefined {
  const entries = Object.entries(prefixes) as [ServiceName, string][];
  return entries.find(([, prefix]) => path === prefix || path.startsWith(`${prefix}/`))?.[0];
}

function singleHeaders(request: IncomingMessage): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, [value].flat()[0]]),
  );
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > bodyLimit) throw new Error('the request body is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
