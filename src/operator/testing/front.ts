import type { IncomingMessage, ServerResponse } from 'node:http';
import { request as send } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { type Listener, listen } from './listener.ts';

/** A service's answer before a fault is applied. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** Fault: replaces or changes a service's answer. */
export type Fault = (answer: Answer, response: ServerResponse, url: string) => void;

/** A reverse proxy for cloud services, with faults for chosen requests. */
export interface Front extends Listener {
  /** Every request as `METHOD /path?query`. */
  readonly asked: string[];
  spoil(what: RegExp, fault: Fault): void;
  heal(): void;
}

export async function openFront(port: number, scheme: 'http' | 'https' = 'http'): Promise<Front> {
  const asked: string[] = [];
  let fault: { readonly what: RegExp; readonly spoil: Fault } | undefined;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url = '' } = request;
    asked.push(`${method} ${url}`);
    const found = await passOn(request, port);
    if (fault?.what.test(`${method} ${url}`)) fault.spoil(found, response, url);
    else response.writeHead(found.status, found.headers).end(found.body);
  }

  const listener = await listen(scheme, (request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  return {
    url: listener.url,
    port: listener.port,
    get connections() {
      return listener.connections;
    },
    present: (pair) => listener.present(pair),
    asked,
    spoil(what, spoil) {
      fault = { what, spoil };
    },
    heal() {
      fault = undefined;
    },
    [Symbol.asyncDispose]: async () => listener[Symbol.asyncDispose](),
  };
}

/** Forwards a request with its Host header, so URLs in the answer name the proxy again. */
async function passOn(request: IncomingMessage, port: number): Promise<Answer> {
  const { method, url: path, headers } = request;
  const body = await buffer(request);
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  send({ host: '127.0.0.1', port, method, path, headers, agent: false }, resolve)
    .on('error', reject)
    .end(body);
  const reply = await promise;
  const content = await buffer(reply);
  const { connection: _, 'transfer-encoding': _coding, ...rest } = reply.headers;
  const length = { 'content-length': String(content.length) };
  return { status: reply.statusCode ?? 500, headers: { ...rest, ...length }, body: content };
}
