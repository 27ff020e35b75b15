import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type Clock, type Random, systemClock, systemRandom } from '../../src/time/clock.ts';
import { loopbackCertificate, type ServerCertificate } from '../apiserver/http/certificate.ts';
import { type ForwardOptions, forwarder, type Identity } from './http-faults.ts';
import { openRelay, type Relay } from './relay.ts';
import { type ListedRule, type RuleInput, Rules } from './rules.ts';

export interface FaultProxyOptions {
  /** `https://host:port/path`, `http://…`, or `tcp://host:port` for anything that is not HTTP. */
  readonly target: string;
  /** Where it listens: loopback and any free port unless told otherwise. */
  readonly host?: string;
  readonly port?: number;
  /** Of an https target: whom the proxy trusts, and the client certificate that the server asks for. */
  readonly identity?: Identity;
  /** What the proxy itself is known by (before HTTPS, default: made for 127.0.0.1); `false` serves plain HTTP before HTTPS. */
  readonly certificate?: ServerCertificate | false;
  readonly rewrite?: Readonly<Record<string, string>>;
  readonly clock?: Clock;
  readonly random?: Random;
}

/** One request as it reached the proxy, whatever became of it. */
interface ReceivedRequest {
  readonly atMs: number;
  readonly method: string;
  readonly path: string;
}

export interface FaultProxy extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** PEM; there when it serves HTTPS. */
  readonly ca: string | undefined;
  /** Adds a rule and gives its id; throws when this proxy could never meet it. */
  add(rule: RuleInput): string;
  /** Removes one rule, or all; throws when there is none of this id. */
  clear(id?: string): void;
  readonly rules: readonly ListedRule[];
  readonly requests: readonly ReceivedRequest[];
  /** The same access by way of this proxy, with the same token; a client certificate is the proxy's to show. */
  through<T extends object>(access: T): Omit<T, 'clientCert' | 'clientKey'>;
  close(): Promise<void>;
}

const maxRequests = 100_000;

/** Starts a proxy before one server; until a rule is added it changes nothing. */
export async function startFaultProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  const { host = '127.0.0.1', port = 0, clock = systemClock, random = systemRandom } = options;
  const target = new URL(options.target);
  const rules = new Rules(random, target.protocol === 'tcp:' ? 'plain TCP' : 'HTTP');
  const requests: ReceivedRequest[] = [];
  const listen = { rules, clock, random, host, port };
  let relay: Relay;
  const behind = await behindRelay(options, target, {
    ...listen,
    onRequest: (method, path) => {
      requests.push({ atMs: clock.monotonicMs(), method, path });
      if (requests.length > maxRequests) requests.shift();
    },
    reset: ({ socket }) => relay.reset(socket.remotePort),
  });
  relay = await openRelay({ ...listen, to: behind.to, plain: behind.plain });
  const url = `${behind.scheme}://${host}:${relay.port}`;
  const { ca } = behind;

  async function close(): Promise<void> {
    await relay.close();
    await behind.close();
  }
  return {
    url,
    port: relay.port,
    ca,
    add: (rule) => rules.add(rule),
    clear: (id) => rules.clear(id),
    get rules() {
      return rules.list();
    },
    requests,
    through(access) {
      const {
        clientCert: _,
        clientKey: __,
        ca: ___,
        ...rest
      } = access as typeof access & Record<string, unknown>;
      return { ...rest, server: url, ...(ca === undefined ? {} : { ca }) } as typeof access;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** What the relay hands connections to: the target itself, or an HTTP server in this process. */
interface Behind {
  readonly scheme: string;
  readonly plain: boolean;
  readonly to: { readonly host: string; readonly port: number };
  readonly ca: string | undefined;
  close(): Promise<void>;
}

type Shared = Pick<ForwardOptions, 'rules' | 'clock' | 'random' | 'onRequest' | 'reset'>;

async function behindRelay(
  { identity = {}, rewrite = {}, certificate }: FaultProxyOptions,
  target: URL,
  shared: Shared,
): Promise<Behind> {
  const { hostname: host, port, protocol } = target;
  if (protocol === 'tcp:') {
    const to = { host, port: Number(port) };
    return { scheme: 'tcp', plain: true, to, ca: undefined, close: () => Promise.resolve() };
  }
  const own = () => loopbackCertificate(shared.clock.now());
  const shown = certificate ?? (protocol === 'https:' ? own() : false);
  const { handle, close } = forwarder({ target, identity, rewrite, ...shared });
  const server = newServer(shown, (request: IncomingMessage, response) => {
    void handle(request, response);
  });
  // Faults may take as long as they are told to.
  Object.assign(server, { requestTimeout: 0, headersTimeout: 0, keepAliveTimeout: 180_000 });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    scheme: shown ? 'https' : 'http',
    plain: false,
    to: { host: '127.0.0.1', port: (server.address() as AddressInfo).port },
    ca: shown ? shown.certificate : undefined,
    async close() {
      close();
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function newServer(shown: ServerCertificate | false, listener: RequestListener): Server {
  if (!shown) return createServer(listener);
  return createSecureServer({ cert: shown.certificate, key: shown.privateKey }, listener);
}
