import {
  Agent,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { request as httpsRequest, Agent as SecureAgent } from 'node:https';
import type { Clock, Random } from '../../src/time/clock.ts';
import { delayMs } from './relay.ts';
import type { RuleOf, Rules, Subject } from './rules.ts';
import { watchEvents } from './watch-events.ts';

/** As whom the proxy speaks to a server that asks for client certificates, and which authority it trusts. PEM. */
export interface Identity {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

export interface ForwardOptions {
  readonly target: URL;
  readonly identity: Identity;
  readonly rules: Rules;
  readonly clock: Clock;
  readonly random: Random;
  /** Texts that are exchanged in every answer, for example the addresses in a service catalogue. */
  readonly rewrite: Readonly<Record<string, string>>;
  /** Told about every request as it comes. */
  readonly onRequest: (method: string, path: string) => void;
  /** Resets the connection on which a request came. */
  readonly reset: (request: IncomingMessage) => void;
}

const requestFaults = [
  'hang',
  'reset',
  'answer',
  'lost-answer',
  'half-answer',
  'slow-answer',
  'endless-answer',
] as const;

type RequestFault = RuleOf<(typeof requestFaults)[number]>;

/** One request and how it is answered. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly subject: Subject;
}

const reasons: Readonly<Record<number, string>> = {
  410: 'Expired',
  429: 'TooManyRequests',
  503: 'ServiceUnavailable',
};

/** Answers requests as the target does, or as the rules say. */
export function forwarder(options: ForwardOptions) {
  const { target, identity, rules, clock, random, reset } = options;
  const secure = target.protocol === 'https:';
  const agent = secure
    ? new SecureAgent({ keepAlive: true, ...identity })
    : new Agent({ keepAlive: true });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const subject = { method: request.method ?? '', path: request.url ?? '' };
    options.onRequest(subject.method, subject.path);
    const delay = rules.take(['delay'], subject);
    if (delay) await clock.sleep(delayMs(delay, random));
    const exchange = { request, response, subject };
    const fault = rules.take(requestFaults, subject);
    try {
      await (fault ? fail(exchange, fault) : pass(exchange));
    } catch {
      // The target cannot be reached, or one side left in the middle: the client sees its connection break.
      reset(request);
    }
  }

  async function fail(exchange: Exchange, fault: RequestFault): Promise<void> {
    const { request, response } = exchange;
    if (fault.fault === 'hang') request.resume();
    else if (fault.fault === 'reset') reset(request);
    else if (fault.fault === 'answer') answer(exchange, fault);
    else if (fault.fault === 'endless-answer') await endless(response);
    else await spoil(exchange, fault);
  }

  /** Faults of a request that the target has carried out. */
  async function spoil(
    exchange: Exchange,
    fault: RuleOf<'lost-answer' | 'half-answer' | 'slow-answer'>,
  ): Promise<void> {
    const { request, response } = exchange;
    const upstream = await send(request, response);
    const body = await bodyOf(upstream);
    if (fault.fault === 'lost-answer') return end(request, fault);
    response.writeHead(upstream.statusCode ?? 502, {
      ...endToEnd(upstream),
      'content-length': body.length,
    });
    if (fault.fault === 'slow-answer') return trickle(response, body, fault.bytesPerSecond);
    await write(response, body.subarray(0, fault.bytes ?? body.length >> 1));
    end(request, fault);
  }

  function end(request: IncomingMessage, { ending }: { readonly ending: 'hang' | 'reset' }): void {
    if (ending === 'reset') reset(request);
  }

  async function trickle(response: ServerResponse, body: Buffer, rate: number): Promise<void> {
    for (let at = 0; at < body.length && !response.destroyed; at++) {
      await clock.sleep(1000 / rate);
      await write(response, body.subarray(at, at + 1));
    }
    response.end();
  }

  async function pass({ request, response, subject }: Exchange): Promise<void> {
    const upstream = await send(request, response);
    const status = upstream.statusCode ?? 502;
    const isWatch = status === 200 && /[?&]watch=(true|1)/.test(subject.path ?? '');
    if (!isWatch && Object.keys(options.rewrite).length > 0) {
      const body = Buffer.from(rewritten((await bodyOf(upstream)).toString(), options.rewrite));
      response.writeHead(status, { ...endToEnd(upstream), 'content-length': body.length });
      response.end(body);
      return;
    }
    response.writeHead(status, endToEnd(upstream));
    response.flushHeaders();
    const body = isWatch ? watchEvents(upstream, { rules, clock, subject }) : upstream;
    for await (const piece of body as AsyncIterable<Buffer | string>) await write(response, piece);
    response.end();
  }

  /** Sends the request on; the answer ends when the client leaves. */
  function send(request: IncomingMessage, response: ServerResponse): Promise<IncomingMessage> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const open = secure ? httpsRequest : httpRequest;
    const base = target.pathname.replace(/\/$/, '');
    const outgoing = open(
      {
        host: target.hostname,
        port: target.port || (secure ? 443 : 80),
        method: request.method,
        path: `${base}${request.url}`,
        headers: request.headers,
        agent,
      },
      resolve,
    );
    outgoing.on('error', reject);
    response.on('close', () => outgoing.destroy());
    request.pipe(outgoing);
    return promise;
  }

  return { handle, close: () => agent.destroy() };
}

function answer({ request, response }: Exchange, fault: RuleOf<'answer'>): void {
  request.resume();
  const { status, headers, body, base64 } = fault;
  if (base64 !== undefined) response.writeHead(status, headers).end(Buffer.from(base64, 'base64'));
  else if (body !== undefined) response.writeHead(status, headers).end(body);
  else {
    const reason = reasons[status] ?? 'InternalError';
    const message = `${reason} (fault proxy)`;
    const told = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: status };
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify({ ...told, metadata: {}, reason, message }));
  }
}

async function endless(response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/json' });
  const piece = Buffer.alloc(64 * 1024, ' ');
  while (!response.destroyed) await write(response, piece);
}

/** Resolves when the client takes more; rejects when it has left. */
function write(response: ServerResponse, piece: Buffer | string): Promise<void> {
  return new Promise((resolve, reject) => {
    response.write(piece, (error) => (error ? reject(error) : resolve()));
  });
}

async function bodyOf(upstream: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of upstream as AsyncIterable<Buffer>) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** Headers that are not of one connection only. */
function endToEnd({ headers }: IncomingMessage): Record<string, string | string[]> {
  const local = ['connection', 'keep-alive', 'transfer-encoding'];
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || local.includes(name) ? [] : [[name, value]],
    ),
  );
}

function rewritten(text: string, rewrite: Readonly<Record<string, string>>): string {
  return Object.entries(rewrite).reduce((body, [from, to]) => body.replaceAll(from, to), text);
}
