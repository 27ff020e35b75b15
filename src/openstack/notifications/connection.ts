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

/** Whom to listen to, and as whom. */
export interface BrokerLogin {
  readonly address: BrokerAddress;
  readonly username: string;
  readonly password: string;
  readonly virtualHost: string;
  readonly tls: TlsOptions;
  /** Whether the operator vouches for the address; any other is refused where its name leads inside. */
  readonly isTrusted: boolean;
}

export interface Listener {
  /** The queue is bound to these exchanges; told again whenever that was looked after. */
  onBound(exchanges: readonly string[]): void;
  /** Undefined: it was too long to be kept. */
  onMessage(body: Buffer | undefined): void;
}

/** Listens to a broker for as long as one connection lasts. Throws BrokerFailure, or the signal's reason. */
export type Listen = (login: BrokerLogin, to: Listener, signal: AbortSignal) => Promise<never>;

export interface ListenTimes {
  /** For the connection and its login, and for each question after it. */
  readonly answerMs: number;
  /** A broker from which nothing comes for two of them, heartbeats included, is gone. */
  readonly heartbeatSeconds: number;
  /** How often the bindings are looked after: an exchange may have been made anew. */
  readonly bindMs: number;
  /** How soon first for an exchange that is missing; services make theirs when they come back. */
  readonly missingMs: number;
}

export const usualTimes: ListenTimes = {
  answerMs: 10_000,
  heartbeatSeconds: 10,
  bindMs: 60_000,
  missingMs: 5_000,
};

/** With what OpenStack publishes; versioned notifications are Nova's alone, and off by default there. */
const sources = [
  { exchange: 'neutron', keys: ['notifications.info'] },
  { exchange: 'nova', keys: ['notifications.info', 'versioned_notifications.info'] },
  { exchange: 'keystone', keys: ['notifications.info'] },
] as const;
/** A peer that takes no more bytes is left without. */
const goodbyeMs = 1_000;
/** Messages that are under way to us at once. */
const prefetch = 100;
/** Of the queue; the other one is for bindings: one that fails ends its channel. */
const channels = { queue: 1, bindings: 2 } as const;

/** Listens by AMQP 0-9-1, on a queue of its own that goes with the connection. */
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

/** Says goodbye, if there is somebody who listens; the broker drops the queue with the connection. */
function leave(session: Session, socket: Socket): void {
  session.tell(0, encode.close());
  socket.destroySoon();
  // Not the socket's own limit, which whatever the peer says puts off.
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

/** Answers the seconds between heartbeats that both sides agreed on. */
async function logIn(session: Session, login: BrokerLogin, times: ListenTimes): Promise<number> {
  await session.begin();
  const { username, password, virtualHost } = login;
  const tune = await session.ask(0, encode.startOk(username, password), 'tune');
  // The first is how many channels it has; one with fewer than ours closes the connection.
  const [, frameMax, offered] = [tune.short(), tune.long(), tune.short()];
  const frame = Math.min(frameMax || longestFrame, longestFrame);
  // 0: the other side would not look.
  const heartbeat = Math.min(offered || times.heartbeatSeconds, times.heartbeatSeconds);
  session.tell(0, encode.tuneOk(channels.bindings, frame, heartbeat));
  await session.ask(0, encode.open(virtualHost), 'openOk');
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
    if (misses === 4) throw new BrokerFailure('unreachable', 'no heartbeat');
  }
}

/** A queue that nobody else can read, and that goes with the connection. */
async function makeQueue(session: Session): Promise<string> {
  const ask = async (...[question, answer]: [Buffer, Parameters<Session['ask']>[2]]) =>
    session.ask(channels.queue, question, answer);
  try {
    await ask(encode.channelOpen(), 'channelOpenOk');
    const queue = (await ask(encode.queueDeclare(), 'queueDeclareOk')).shortText();
    await ask(encode.qos(prefetch), 'qosOk');
    await ask(encode.consume(queue), 'consumeOk');
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

/** Whether the exchange is there for the user. None is declared: what we made would be in OpenStack's way. */
async function bind(
  session: Session,
  queue: string,
  { exchange, keys }: (typeof sources)[number],
): Promise<boolean> {
  const channel = channels.bindings;
  await session.ask(channel, encode.channelOpen(), 'channelOpenOk');
  try {
    for (const key of keys) {
      await session.ask(channel, encode.queueBind(queue, exchange, key), 'queueBindOk');
    }
  } catch (error) {
    if (!(error instanceof ChannelClosed) || !tolerated.includes(error.code)) throw error;
    return false;
  }
  await session.ask(channel, encode.channelClose(), 'channelCloseOk');
  return true;
}

const tolerated: readonly number[] = [codes.notFound, codes.accessRefused];
