import type { Socket } from 'node:net';
import { BrokerFailure, type BrokerFailureKind } from '../broker-failure.ts';
import { encodeFrame, type Frame, FrameReader, frameTypes, protocolHeader } from './frames.ts';
import { type Delivery, Incoming } from './incoming.ts';
import { encode, type Method, type MethodName, readMethod } from './methods.ts';
import type { ValueReader } from './values.ts';

/** The broker closed a channel; the connection stays open. */
export class ChannelClosed extends Error {
  override readonly name = 'ChannelClosed';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Reply codes for close methods (specification, 1.2). */
export const codes = { accessRefused: 403, notFound: 404, notAllowed: 530 } as const;

interface Waiting {
  readonly for: MethodName;
  readonly resolve: (values: ValueReader) => void;
  readonly reject: (error: Error) => void;
}

export interface SessionOptions {
  readonly onMessage: (body: Buffer | undefined) => void;
  /** Longer messages are discarded (bytes). */
  readonly longestMessage: number;
}

/** AMQP session: one connection with its frames decoded. The creator calls run() and closes the socket. */
export class Session {
  readonly #socket: Socket;
  readonly #onMessage: SessionOptions['onMessage'];
  readonly #frames = new FrameReader();
  readonly #incoming: Incoming;
  /** Pending replies by channel: the protocol allows one request at a time per channel. */
  readonly #waiting = new Map<number, Waiting>();
  #hasRead = true;

  constructor(socket: Socket, { onMessage, longestMessage }: SessionOptions) {
    this.#socket = socket;
    this.#onMessage = onMessage;
    this.#incoming = new Incoming(longestMessage);
  }

  /**
   * Reads until the connection ends. Throws BrokerFailure, RangeError for a truncated value, or the socket's error.
   */
  async run(): Promise<never> {
    for await (const bytes of this.#socket as AsyncIterable<Buffer>) {
      this.#hasRead = true;
      for (const frame of this.#frames.read(bytes)) this.#take(frame);
    }
    throw new BrokerFailure('unreachable', 'the broker closed the connection');
  }

  /** Sends the protocol header and waits for `start`. */
  async begin(): Promise<ValueReader> {
    const start = this.#answer(0, 'start');
    this.#socket.write(protocolHeader);
    return start;
  }

  /** Sends a request and waits for the named reply. Throws ChannelClosed. */
  async request(channel: number, payload: Buffer, answer: MethodName): Promise<ValueReader> {
    const answered = this.#answer(channel, answer);
    this.send(channel, payload);
    return answered;
  }

  send(channel: number, payload: Buffer): void {
    this.#write({ type: frameTypes.method, channel, payload });
  }

  /** Sends a heartbeat; returns true if data arrived since the previous call. */
  beat(): boolean {
    this.#write({ type: frameTypes.heartbeat, channel: 0, payload: Buffer.alloc(0) });
    const had = this.#hasRead;
    this.#hasRead = false;
    return had;
  }

  #write(frame: Frame): void {
    if (this.#socket.writable) this.#socket.write(encodeFrame(frame));
  }

  async #answer(channel: number, name: MethodName): Promise<ValueReader> {
    const { promise, resolve, reject } = Promise.withResolvers<ValueReader>();
    this.#waiting.set(channel, { for: name, resolve, reject });
    return promise;
  }

  #take({ type, channel, payload }: Frame): void {
    if (type === frameTypes.method) this.#obey(channel, readMethod(payload));
    if (type === frameTypes.header) this.#deliver(channel, this.#incoming.announce(payload));
    if (type === frameTypes.body) this.#deliver(channel, this.#incoming.add(payload));
  }

  #deliver(channel: number, delivery: Delivery | undefined): void {
    if (!delivery) return;
    this.#onMessage(delivery.body);
    this.send(channel, encode.ack(delivery.tag));
    // A peer that reads its acknowledgements has at most a hundred pending, a few kilobytes.
    if (this.#socket.writableNeedDrain) {
      throw new BrokerFailure(
        'protocol',
        'the broker sends messages but reads no acknowledgements',
      );
    }
  }

  #obey(channel: number, { name, values }: Method): void {
    if (name === 'deliver') this.#incoming.begin(values);
    else if (name === 'close') this.#closed(values);
    else if (name === 'channelClose') this.#channelClosed(channel, values);
    else if (name === 'cancel')
      throw new BrokerFailure('queueGone', 'the broker deleted the queue');
    else this.#answered(channel, { name, values });
  }

  #answered(channel: number, { name, values }: Method): void {
    const waiting = this.#waiting.get(channel);
    // Flow control concerns publishers only.
    if (name === 'blocked' || name === 'unblocked') return;
    if (name === undefined || name !== waiting?.for) {
      throw new BrokerFailure(
        'protocol',
        `the broker sent an unexpected method: ${name ?? 'unknown'}`,
      );
    }
    this.#waiting.delete(channel);
    waiting.resolve(values);
  }

  #closed(values: ValueReader): never {
    this.send(0, encode.closeOk());
    const code = values.short();
    const kind = kinds[code] ?? 'unreachable';
    throw new BrokerFailure(kind, `the broker closed the connection: ${values.shortText()}`);
  }

  #channelClosed(channel: number, values: ValueReader): void {
    this.send(channel, encode.channelCloseOk());
    const closed = new ChannelClosed(values.short(), values.shortText());
    const waiting = this.#waiting.get(channel);
    this.#waiting.delete(channel);
    if (!waiting)
      throw new BrokerFailure('unreachable', `the broker closed a channel: ${closed.message}`);
    waiting.reject(closed);
  }
}

const kinds: Readonly<Record<number, BrokerFailureKind>> = {
  [codes.accessRefused]: 'refused',
  [codes.notAllowed]: 'virtualHost',
  // Syntax errors in a frame, method or value that we sent.
  501: 'protocol',
  502: 'protocol',
  503: 'protocol',
  505: 'protocol',
};
