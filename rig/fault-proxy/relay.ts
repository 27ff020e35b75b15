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
  /** Resets the connection that leaves this process from the local port `port`. */
  reset(port: number | undefined): void;
  close(): Promise<void>;
}

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  frozen: boolean;
  /** Whether the client spoke last. */
  asked: boolean;
}

/** Opens the port. */
export async function openRelay(options: RelayOptions): Promise<Relay> {
  const { rules, host } = options;
  const pairs = new Set<Pair>();
  let port = options.port;
  let listening: Server | undefined;

  async function listen(): Promise<void> {
    const server = createServer({ allowHalfOpen: true }, accept);
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
    const server = createConnection({ ...options.to, allowHalfOpen: true });
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

  function drop({ client, server }: Pair): void {
    client.resetAndDestroy();
    server.destroy();
  }

  function forget(pair: Pair): void {
    if (!pair.client.destroyed || !pair.server.destroyed) return;
    pairs.delete(pair);
  }

  function onRules(): void {
    if (rules.has('gone')) {
      listening?.close();
      listening = undefined;
      for (const pair of pairs) drop(pair);
    } else if (!listening) {
      // The port was ours a moment ago; when it cannot be had again the process ends with that error.
      void listen();
    }
    if (rules.has('no-backend')) for (const pair of pairs) drop(pair);
    freezeOrThaw();
  }

  /** A connection that never got through stays dead when the hole closes: its client has to make a new one. */
  function freezeOrThaw(): void {
    const frozen = rules.list().some(({ rule }) => rule.fault === 'black-hole' && !rule.onlyNew);
    for (const pair of pairs) {
      if (frozen) freeze(pair, () => rules.take(['black-hole'], {}));
      else if (pair.frozen && !rules.has('black-hole')) drop(pair);
    }
  }

  rules.onChange(onRules);
  await listen();
  return {
    port,
    reset(of) {
      for (const pair of pairs) if (pair.server.localPort === of) drop(pair);
    },
    async close() {
      for (const pair of pairs) drop(pair);
      const server = listening;
      if (!server) return;
      server.close();
      await once(server, 'close');
    },
  };
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
  const cut = rules.take(['cut'], {});
  client.on(
    'data',
    delayed(options, (piece) => server.write(piece)),
  );
  client.on('end', () => server.end());
  let left = cut?.bytes ?? Number.POSITIVE_INFINITY;
  server.on('data', (piece: Buffer) => {
    if (!pair.frozen) client.write(piece.subarray(0, left));
    left -= piece.length;
    if (left <= 0) client.end(() => client.resetAndDestroy());
  });
  server.on('end', () => client.end());
}

/** Hands pieces on in their order, each after its delay. */
function delayed(
  { rules, clock, random }: RelayOptions,
  write: (piece: Buffer) => void,
): (piece: Buffer) => void {
  let before = Promise.resolve();
  return (piece) => {
    const delay = rules.take(['delay'], {});
    before = before.then(async () => {
      if (delay) await clock.sleep(delayMs(delay, random));
      write(piece);
    });
  };
}

export function delayMs({ ms, spreadMs }: RuleOf<'delay'>, random: Random): number {
  return ms + spreadMs * random();
}
