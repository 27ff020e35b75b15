import { connect, isIP, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import { lookupOutside } from '../../requests/inner-addresses.ts';
import type { TlsOptions } from '../../requests/transport.ts';
import type { Clock } from '../../time/clock.ts';
import { withDeadline } from '../../time/deadline.ts';
import { longestFrame } from './amqp/frames.ts';
import { encode } from './amqp/methods.ts';
import { ChannelClosed, codes, Session } from './amqp/session.ts';
import type { BrokerAddress } from './broker-address.ts';
import { BrokerFailure, brokerFailure } from './broker-failure.ts';
import { longestMessage } from './envelope.ts';

/** Broker address and login. */
export interface BrokerLogin {
  readonly address: BrokerAddress;
  readonly username: string;
  readonly password: string;
  readonly virtualHost: string;
  readonly tls: TlsOptions;
  /** True if the operator trusts the address; other names must not resolve to inner addresses. */
  readonly isTrusted: boolean;
}

export interface Listener {
  /** Called with the bound exchanges after each binding check. */
  onBound(exchanges: readonly string[]): void;
  /** undefined: an oversized message. */
  onMessage(body: Buffer | undefined): void;
}

/** Consumes from a broker while one connection lasts. Throws BrokerFailure, or the signal's reason. */
export type Listen = (login: BrokerLogin, to: Listener, signal: AbortSignal) => Promise<never>;

export interface ListenTimes {
  /** Limit for connection and login, and for each later request. */
  readonly answerMs: number;
  /** A broker that sends nothing for two intervals, heartbeats included, counts as gone. */
  readonly heartbeatSeconds: number;
  /** Interval between binding checks: services may recreate their exchanges. */
  readonly bindMs: number;
  /** First retry for a missing exchange, doubled each time; services create exchanges when they restart. */
  readonly missingMs: number;
}

export const usualTimes: ListenTimes = {
  answerMs: 10_000,
  heartbeatSeconds: 10,
  bindMs: 60_000,
  missingMs: 5_000,
};

/** Exchanges and routing keys that OpenStack publishes to; only Nova has versioned notifications, off by default. */
const sources = [
  { exchange: 'neutron', keys: ['notifications.info'] },
  { exchange: 'nova', keys: ['notifications.info', 'versioned_notifications.info'] },
  { exchange: 'keystone', keys: ['notifications.info'] },
] as const;
/** Time for the close method to be sent before the socket is destroyed. */
const goodbyeMs = 1_000;
/** Maximum number of unacknowledged messages. */
const prefetch = 100;
/** Channel numbers. Bindings have an own channel, because a failed binding closes its channel. */
const channels = { queue: 1, bindings: 2 } as const;

/** Consumes by AMQP 0-9-1 from an own queue that the broker deletes with the connection. */
export function listenByAmqp(clock: Clock, times: ListenTimes = usualTimes): Listen {
  return async (login, to, signal) => {
    signal.throwIfAborted();
    const socket = open(login);
    const over = new AbortController();
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    const onMessage = (body: Buffer | undefined): void => to.onMessage(body);
    const session = new Session(socket, { onMessage, longestMessage });
    const attendance = { session, clock, times, signal: over.signal };
    try {
      return await Promise.race([aborted, session.run(), attend(attendance, login, to)]);
    } catch (error) {
      throw signal.aborted ? error : brokerFailure(error);
    } finally {
      signal.removeEventListener('abort', onAbort);
      over.abort();
      leave(session, socket);
    }
  };
}

function open({ address, tls, isTrusted }: BrokerLogin): Socket {
  const { host, port } = address;
  const to = { host, port, ...(isTrusted ? {} : { lookup: lookupOutside() }) };
  if (!address.tls) return connect(to);
  const { ca, insecure = false } = tls;
  return connectSecurely({
    ...to,
    rejectUnauthorized: !insecure,
    ...(isIP(host) === 0 && { servername: host }),
    ...(ca === undefined ? {} : { ca }),
  });
}

/** Sends the close method if the peer still reads; the broker deletes the queue with the connection. */
function leave(session: Session, socket: Socket): void {
  session.send(0, encode.close());
  socket.destroySoon();
  // A separate timer, because the socket's own timeout restarts with each received byte.
  setTimeout(() => socket.destroy(), goodbyeMs).unref();
}

interface Attendance {
  readonly session: Session;
  readonly clock: Clock;
  readonly times: ListenTimes;
  readonly signal: AbortSignal;
}

async function attend(attendance: Attendance, login: BrokerLogin, to: Listener): Promise<never> {
  const { session, clock, times, signal } = attendance;
  const limit = { clock, ms: times.answerMs, signal };
  const heartbeatSeconds = await withDeadline(limit, async () => logIn(session, login, times));
  const listening = async (): Promise<never> => {
    const queue = await withDeadline(limit, async () => makeQueue(session));
    return keepBound(attendance, queue, to);
  };
  return Promise.race([beat(session, heartbeatSeconds, attendance), listening()]);
}

/** Returns the negotiated heartbeat interval in seconds. */
async function logIn(session: Session, login: BrokerLogin, times: ListenTimes): Promise<number> {
  await session.begin();
  const { username, password, virtualHost } = login;
  const tune = await session.request(0, encode.startOk(username, password), 'tune');
  // The first value is the channel limit; a broker with fewer channels than ours closes the connection.
  const [, frameMax, offered] = [tune.short(), tune.long(), tune.short()];
  const frame = Math.min(frameMax || longestFrame, longestFrame);
  // 0: the broker sends no heartbeats.
  const heartbeat = Math.min(offered || times.heartbeatSeconds, times.heartbeatSeconds);
  session.send(0, encode.tuneOk(channels.bindings, frame, heartbeat));
  await session.request(0, encode.open(virtualHost), 'openOk');
  return heartbeat;
}

async function beat(
  session: Session,
  seconds: number,
  { clock, signal }: Attendance,
): Promise<never> {
  for (let misses = 0; ; ) {
    await clock.sleep((seconds * 1_000) / 2, signal);
    misses = session.beat() ? 0 : misses + 1;
    if (misses === 4) throw new BrokerFailure('unreachable', 'no heartbeat from the broker');
  }
}

/** Declares an exclusive queue that the broker deletes with the connection. */
async function makeQueue(session: Session): Promise<string> {
  const call = async (...[payload, answer]: [Buffer, Parameters<Session['request']>[2]]) =>
    session.request(channels.queue, payload, answer);
  try {
    await call(encode.channelOpen(), 'channelOpenOk');
    const queue = (await call(encode.queueDeclare(), 'queueDeclareOk')).shortText();
    await call(encode.qos(prefetch), 'qosOk');
    await call(encode.consume(queue), 'consumeOk');
    return queue;
  } catch (error) {
    if (!(error instanceof ChannelClosed) || error.code !== codes.accessRefused) throw error;
    throw new BrokerFailure('forbidden', error.message, { cause: error });
  }
}

async function keepBound(attendance: Attendance, queue: string, to: Listener): Promise<never> {
  const { session, clock, times, signal } = attendance;
  const limit = { clock, ms: times.answerMs, signal };
  for (let missing = 0; ; ) {
    const bound: string[] = [];
    for (const source of sources) {
      const isBound = await withDeadline(limit, async () => bind(session, queue, source));
      if (isBound) bound.push(source.exchange);
    }
    to.onBound(bound);
    missing = bound.length === sources.length ? 0 : missing + 1;
    const soon = times.missingMs * 2 ** (missing - 1);
    await clock.sleep(missing === 0 ? times.bindMs : Math.min(soon, times.bindMs), signal);
  }
}

/**
 * True if the exchange exists for this user. Exchanges are never declared here: a declaration of ours could conflict
 * with OpenStack's.
 */
async function bind(
  session: Session,
  queue: string,
  { exchange, keys }: (typeof sources)[number],
): Promise<boolean> {
  const channel = channels.bindings;
  await session.request(channel, encode.channelOpen(), 'channelOpenOk');
  try {
    for (const key of keys) {
      await session.request(channel, encode.queueBind(queue, exchange, key), 'queueBindOk');
    }
  } catch (error) {
    if (!(error instanceof ChannelClosed) || !tolerated.includes(error.code)) throw error;
    return false;
  }
  await session.request(channel, encode.channelClose(), 'channelCloseOk');
  return true;
}

const tolerated: readonly number[] = [codes.notFound, codes.accessRefused];
