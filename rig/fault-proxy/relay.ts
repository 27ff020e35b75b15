import { once } from 'node:events';
import {
  type AddressInfo,
  createConnection,
  createServer,
  type Server,
  type Socket,
} from 'node:net';
import type { Clock, Random } from '../../src/time/clock.ts';
import type { RuleOf, Rules } from './rules.ts';

export interface RelayOptions {
  readonly rules: Rules;
  readonly clock: Clock;
  readonly random: Random;
  readonly host: string;
  readonly port: number;
  readonly to: { readonly host: string; readonly port: number };
  /** Faults of bytes (`cut`, `delay`) happen here and not in an HTTP proxy behind. */
  readonly plain: boolean;
}

/** Connections to one port, handed on to another, as a load balancer of the fourth layer does. */
export interface Relay {
  readonly port: number;
  /** Resets the connection that leaves this process from the local port `port`, once what was sent on it has come. */
  reset(port: number | undefined): Promise<void>;
  close(): Promise<void>;
}

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  frozen: boolean;
  /** Whether the client spoke last. */
  asked: boolean;
}

/** Without a delay of ours: the kernel would hold small pieces back until those before them are acknowledged. */
const asPromptly = { allowHalfOpen: true, noDelay: true };

/** Opens the port. */
export async function openRelay(options: RelayOptions): Promise<Relay> {
  const { rules, host } = options;
  const pairs = new Set<Pair>();
  let port = options.port;
  let listening: Server | undefined;
  let closed = false;

  async function listen(): Promise<void> {
    const server = createServer(asPromptly, accept);
    listening = server;
    server.listen(port, host);
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port;
  }

  function accept(client: Socket): void {
    if (rules.take(['no-backend'], {})) {
      client.on('error', () => undefined); // its other side may have left already
      client.resetAndDestroy();
      return;
    }
    const server = createConnection({ ...options.to, ...asPromptly });
    const pair: Pair = { client, server, frozen: false, asked: false };
    pairs.add(pair);
    for (const socket of [client, server]) {
      socket.on('error', () => drop(pair)); // either side was reset: so is the other
      socket.on('close', () => forget(pair));
    }
    pair.frozen = rules.take(['black-hole'], {}) !== undefined;
    if (pair.frozen) return;
    join(pair, options);
  }

  function forget(pair: Pair): void {
    if (!pair.client.destroyed || !pair.server.destroyed) return;
    pairs.delete(pair);
  }

  function onRules(): void {
    if (closed) return;
    if (rules.active('gone').length > 0) {
      listening?.close();
      listening = undefined;
      for (const pair of pairs) drop(pair);
    } else if (!listening) {
      // The port was ours a moment ago; when it cannot be had again the process ends with that error.
      void listen();
    }
    if (rules.active('no-backend').length > 0) for (const pair of pairs) drop(pair);
    freezeOrThaw();
  }

  /** A connection that never got through stays dead when the hole closes: its client has to make a new one. */
  function freezeOrThaw(): void {
    const freezing = rules.active('black-hole').some(({ onlyNew }) => !onlyNew);
    const stands = rules.list().some(({ rule }) => rule.fault === 'black-hole');
    for (const pair of pairs) {
      if (freezing) freeze(pair, () => rules.take(['black-hole'], {}));
      else if (pair.frozen && !stands) drop(pair);
    }
  }

  rules.onChange(onRules);
  await listen();
  return {
    port,
    async reset(of) {
      const pair = [...pairs].find(({ server }) => of !== undefined && server.localPort === of);
      if (!pair) return;
      await delivered(pair);
      drop(pair);
    },
    async close() {
      closed = true;
      for (const pair of pairs) drop(pair);
      const server = listening;
      if (!server) return;
      server.close();
      await once(server, 'close');
    },
  };
}

function drop({ client, server }: Pair): void {
  client.resetAndDestroy();
  server.destroy();
}

/** Waits until nothing comes from the server any more and its client has taken what came; a frozen one takes nothing. */
async function delivered(pair: Pair): Promise<void> {
  const { client, server } = pair;
  let [read, quiet] = [server.bytesRead, 0];
  while (quiet < 3 && !pair.frozen && !client.destroyed) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    quiet = server.bytesRead === read && client.writableLength === 0 ? quiet + 1 : 0;
    read = server.bytesRead;
  }
}

/** What the client has asked, and what it still sends, is lost, and told. */
function freeze(pair: Pair, onLost: () => void): void {
  if (pair.frozen) return;
  pair.frozen = true;
  if (pair.asked) onLost();
  for (const socket of [pair.client, pair.server]) {
    socket.unpipe();
    socket.removeAllListeners('data');
    socket.pause();
  }
  pair.client.on('data', onLost).resume();
}

function join(pair: Pair, options: RelayOptions): void {
  const { client, server } = pair;
  client.on('data', () => {
    pair.asked = true;
  });
  server.on('data', () => {
    pair.asked = false;
  });
  if (!options.plain) {
    client.pipe(server);
    server.pipe(client);
    return;
  }
  const { rules } = options;
  client.on('data', delayed(pair, options)).on('end', () => server.end());
  const cut = rules.take(['cut'], {});
  server.on('data', cut ? cutAfter(cut.bytes, pair) : (piece: Buffer) => client.write(piece));
  server.on('end', () => client.end());
}

/** Hands so many bytes of an answer on; when they have come, the connection is reset. */
function cutAfter(bytes: number, pair: Pair): (piece: Buffer) => void {
  let left = bytes;
  return (piece) => {
    if (left < 0) return;
    const part = piece.subarray(0, left);
    left = piece.length < left ? left - piece.length : -1;
    pair.client.write(part, () => left < 0 && drop(pair));
  };
}

/** Hands pieces on in their order, each after its delay; what is on its way when the connection freezes is lost. */
function delayed(pair: Pair, { rules, clock, random }: RelayOptions): (piece: Buffer) => void {
  let before = Promise.resolve();
  return (piece) => {
    const delay = rules.take(['delay'], {});
    before = before.then(async () => {
      if (delay) await clock.sleep(delayMs(delay, random));
      if (!pair.frozen) pair.server.write(piece);
    });
  };
}

export function delayMs({ ms, spreadMs }: RuleOf<'delay'>, random: Random): number {
  return ms + spreadMs * random();
}
