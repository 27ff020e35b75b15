import type { Socket } from 'node:net';
import { BrokerFailure, type BrokerFailureKind } from '../broker-failure.ts';
import { encodeFrame, type Frame, FrameReader, frameTypes, protocolHeader } from './frames.ts';
import { type Delivery, Incoming } from './incoming.ts';
import { encode, type Method, type MethodName, readMethod } from './methods.ts';
import type { ValueReader } from './values.ts';

/** The broker closed a channel; the connection goes on. */
export class ChannelClosed extends Error {
  override readonly name = 'ChannelClosed';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Codes of a close (specification, 1.2). */
export const codes = { accessRefused: 403, notFound: 404, notAllowed: 530 } as const;

interface Waiting {
  readonly for: MethodName;
  readonly resolve: (values: ValueReader) => void;
  readonly reject: (error: Error) => void;
}

export interface SessionOptions {
  readonly onMessage: (body: Buffer | undefined) => void;
  /** Longer ones are not kept. */
  readonly longestMessage: number;
}

/** One connection, its frames told apart. Whoever makes it runs it, and ends the socket. */
export class Session {
  readonly #socket: Socket;
  readonly #onMessage: SessionOptions['onMessage'];
  readonly #frames = new FrameReader();
  readonly #incoming: Incoming;
  /** By channel: the protocol has one question at a time on each. */
  readonly #waiting = new Map<number, Waiting>();
  #hasRead = true;

  constructor(socket: Socket, { onMessage, longestMessage }: SessionOptions) {
    this.#socket = socket;
    this.#onMessage = onMessage;
    this.#incoming = new Incoming(longestMessage);
  }

  /** Reads until the connection ends. Throws BrokerFailure, RangeError where a value is missing, or what the socket ended with. */
  async run(): Promise<never> {
    for await (const bytes of this.#socket as AsyncIterable<Buffer>) {
      this.#hasRead = true;
      for (const frame of this.#frames.read(bytes)) this.#take(frame);
    }
    throw new BrokerFailure('unreachable', 'it closed the connection');
  }

  /** Says hello, and waits for the answer. */
  async begin(): Promise<ValueReader> {
    const start = this.#answer(0, 'start');
    this.#socket.write(protocolHeader);
    return start;
  }

  /** Asks, and waits for the answer of this name. Throws ChannelClosed. */
  async ask(channel: number, question: Buffer, answer: MethodName): Promise<ValueReader> {
    const answered = this.#answer(channel, answer);
    this.tell(channel, question);
    return answered;
  }

  tell(channel: number, payload: Buffer): void {
    this.#send({ type: frameTypes.method, channel, payload });
  }

  /** Sends a heartbeat; answers whether anything has come since the last one. */
  beat(): boolean {
    this.#send({ type: frameTypes.heartbeat, channel: 0, payload: Buffer.alloc(0) });
    const had = this.#hasRead;
    this.#hasRead = false;
    return had;
  }

  #send(frame: Frame): void {
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
    this.tell(channel, encode.ack(delivery.tag));
    // One that waits for its answers has a hundred of them under way, a few kilobytes.
    if (this.#socket.writableNeedDrain) {
      throw new BrokerFailure('protocol', 'it sends messages and takes no answers');
    }
  }

  #obey(channel: number, { name, values }: Method): void {
    if (name === 'deliver') this.#incoming.begin(values);
    else if (name === 'close') this.#closed(values);
    else if (name === 'channelClose') this.#channelClosed(channel, values);
    else if (name === 'cancel') throw new BrokerFailure('queueGone', 'the queue was deleted');
    else this.#answered(channel, { name, values });
  }

  #answered(channel: number, { name, values }: Method): void {
    const waiting = this.#waiting.get(channel);
    // That publishers are to pause is none of our business.
    if (name === 'blocked' || name === 'unblocked') return;
    if (name === undefined || name !== waiting?.for) {
      throw new BrokerFailure('protocol', `a method out of turn: ${name ?? 'unknown'}`);
    }
    this.#waiting.delete(channel);
    waiting.resolve(values);
  }

  #closed(values: ValueReader): never {
    this.tell(0, encode.closeOk());
    const code = values.short();
    const kind = kinds[code] ?? 'unreachable';
    throw new BrokerFailure(kind, `it closed the connection: ${values.shortText()}`);
  }

  #channelClosed(channel: number, values: ValueReader): void {
    this.tell(channel, encode.channelCloseOk());
    const closed = new ChannelClosed(values.short(), values.shortText());
    const waiting = this.#waiting.get(channel);
    this.#waiting.delete(channel);
    if (!waiting) throw new BrokerFailure('unreachable', `it closed a channel: ${closed.message}`);
    waiting.reject(closed);
  }
}

const kinds: Readonly<Record<number, BrokerFailureKind>> = {
  [codes.accessRefused]: 'refused',
  [codes.notAllowed]: 'virtualHost',
  // A frame, a method or a value that it did not understand.
  501: 'protocol',
  502: 'protocol',
  503: 'protocol',
  505: 'protocol',
};
