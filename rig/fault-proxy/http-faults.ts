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
  /** Resets the connection on which a request came, once what was answered on it has come. */
  readonly reset: (request: IncomingMessage) => Promise<void>;
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

/** One request, which has come as a whole, and how it is answered. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly sent: Buffer;
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
    try {
      const exchange = { request, sent: await bodyOf(request), response, subject };
      const delay = rules.take(['delay'], subject);
      if (delay) await clock.sleep(delayMs(delay, random));
      const fault = rules.take(requestFaults, subject);
      await (fault ? fail(exchange, fault) : pass(exchange));
    } catch {
      // The target cannot be reached, or one side left in the middle: the client sees its connection break.
      await reset(request);
    }
  }

  async function fail(exchange: Exchange, fault: RequestFault): Promise<void> {
    const { request, response } = exchange;
    if (fault.fault === 'hang') return;
    if (fault.fault === 'reset') await reset(request);
    else if (fault.fault === 'answer') answer(exchange, fault);
    else if (fault.fault === 'endless-answer') await endless(response);
    else await spoil(exchange, fault);
  }

  /** Faults of a request that the target carries out. */
  async function spoil(
    exchange: Exchange,
    fault: RuleOf<'lost-answer' | 'half-answer' | 'slow-answer'>,
  ): Promise<void> {
    const { request, response } = exchange;
    const upstream = await send(exchange);
    if (fault.fault === 'lost-answer') await bodyOf(upstream);
    else if (fault.fault === 'slow-answer') {
      response.on('close', () => upstream.destroy());
      response.writeHead(statusOf(upstream), endToEnd(upstream));
      response.flushHeaders();
      await trickle(response, upstream, fault.bytesPerSecond);
      return;
    } else await half(response, upstream, fault.bytes);
    if (fault.ending === 'reset') await reset(request);
  }

  async function trickle(
    response: ServerResponse,
    upstream: IncomingMessage,
    rate: number,
  ): Promise<void> {
    // A timer rings every millisecond at most: what is faster comes in larger pieces.
    const size = Math.max(1, Math.round(rate / 100));
    for await (const piece of upstream as AsyncIterable<Buffer>) {
      for (let at = 0; at < piece.length && !response.destroyed; at += size) {
        const part = piece.subarray(at, at + size);
        await clock.sleep((1000 * part.length) / rate);
        await write(response, part);
      }
    }
    response.end();
  }

  async function pass(exchange: Exchange): Promise<void> {
    const { response, subject } = exchange;
    const upstream = await send(exchange);
    response.on('close', () => upstream.destroy());
    const status = statusOf(upstream);
    const isWatch = status === 200 && /[?&]watch=(true|1)/.test(subject.path ?? '');
    if (!isWatch && Object.keys(options.rewrite).length > 0) {
      const body = Buffer.from(rewritten((await bodyOf(upstream)).toString(), options.rewrite));
      response.writeHead(status, { ...endToEnd(upstream), 'content-length': body.length });
      response.end(body);
      return;
    }
    // What becomes of the events of a watch decides how long it is.
    response.writeHead(status, endToEnd(upstream, ...(isWatch ? ['content-length'] : [])));
    response.flushHeaders();
    const body = isWatch ? watchEvents(upstream, { rules, clock, subject }) : upstream;
    for await (const piece of body as AsyncIterable<Buffer>) await write(response, piece);
    response.end();
  }

  /** Sends a request on, whoever still waits for its answer. */
  function send({ request, sent }: Exchange): Promise<IncomingMessage> {
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
    outgoing.on('error', reject).end(sent);
    return promise;
  }

  return { handle, close: () => agent.destroy() };
}

function answer({ response }: Exchange, fault: RuleOf<'answer'>): void {
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

/** The first bytes of an answer under a head that promises at least one more. */
async function half(
  response: ServerResponse,
  upstream: IncomingMessage,
  bytes: number | undefined,
): Promise<void> {
  const whole = bytes === undefined ? await bodyOf(upstream) : await firstOf(upstream, bytes + 1);
  const first = whole.subarray(0, Math.min(bytes ?? whole.length >> 1, whole.length - 1));
  const { 'content-length': promised = '', ...headers } = endToEnd(upstream);
  const length = Math.max(Number(promised), whole.length, 1);
  response.writeHead(statusOf(upstream), { ...headers, 'content-length': length });
  response.flushHeaders();
  await write(response, first);
}

/** At most so many bytes, of an answer that may never end. */
async function firstOf(upstream: IncomingMessage, bytes: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of upstream as AsyncIterable<Buffer>) {
    pieces.push(piece);
    size += piece.length;
    if (size >= bytes) break;
  }
  return Buffer.concat(pieces).subarray(0, bytes);
}

function statusOf({ statusCode = 502 }: IncomingMessage): number {
  return statusCode;
}

async function endless(response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/json' });
  const piece = Buffer.alloc(64 * 1024, ' ');
  while (!response.destroyed) await write(response, piece);
}

/** Resolves when the client takes more; rejects when it has left. */
function write(response: ServerResponse, piece: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    response.write(piece, (error) => (error ? reject(error) : resolve()));
  });
}

async function bodyOf(message: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of message as AsyncIterable<Buffer>) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** Headers that are not of one connection only, without some others. */
function endToEnd(
  { headers }: IncomingMessage,
  ...others: readonly string[]
): Record<string, string | string[]> {
  const left = ['connection', 'keep-alive', 'transfer-encoding', ...others];
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || left.includes(name) ? [] : [[name, value]],
    ),
  );
}

function rewritten(text: string, rewrite: Readonly<Record<string, string>>): string {
  return Object.entries(rewrite).reduce((body, [from, to]) => body.replaceAll(from, to), text);
}
