import { BrokerFailure } from '../broker-failure.ts';
import { long, octet, short } from './values.ts';

/** First bytes from an AMQP 0-9-1 client. */
export const protocolHeader = Buffer.from('AMQP\u0000\u0000\u0009\u0001', 'latin1');

export const frameTypes = { method: 1, header: 2, body: 3, heartbeat: 8 } as const;

export interface Frame {
  readonly type: number;
  readonly channel: number;
  readonly payload: Buffer;
}

/** Longest accepted frame in bytes, including seven header bytes and the end byte. */
export const longestFrame = 128 * 1024;
const around = 8;
const frameEnd = 0xce;

export function encodeFrame({ type, channel, payload }: Frame): Buffer {
  return Buffer.concat([
    octet(type),
    short(channel),
    long(payload.length),
    payload,
    octet(frameEnd),
  ]);
}

/** Splits a byte stream into frames. */
export class FrameReader {
  #buffered: Buffer = Buffer.alloc(0);

  /** Returns the frames completed by these bytes. Throws BrokerFailure for invalid frames. */
  *read(bytes: Buffer): Generator<Frame> {
    this.#buffered = this.#buffered.length === 0 ? bytes : Buffer.concat([this.#buffered, bytes]);
    // The first byte already identifies peers that are no brokers.
    while (this.#buffered.length > 0) {
      const frame = this.#next(this.#buffered);
      if (!frame) return;
      yield frame;
    }
  }

  #next(buffered: Buffer): Frame | undefined {
    const type = buffered.readUInt8(0);
    if (!isKnown(type)) throw new BrokerFailure('protocol', noFrame(buffered));
    if (buffered.length < 7) return undefined;
    const size = buffered.readUInt32BE(3);
    if (size + around > longestFrame) {
      throw new BrokerFailure('protocol', `the broker sent a frame of ${size} bytes`);
    }
    if (buffered.length < size + around) return undefined;
    if (buffered.readUInt8(size + 7) !== frameEnd)
      throw new BrokerFailure('protocol', noFrame(buffered));
    this.#buffered = buffered.subarray(size + around);
    return { type, channel: buffered.readUInt16BE(1), payload: buffered.subarray(7, size + 7) };
  }
}

function isKnown(type: number): boolean {
  return Object.values(frameTypes).some((known) => known === type);
}

/** A broker with another AMQP version answers with its own header. */
function noFrame(buffered: Buffer): string {
  return buffered.subarray(0, 4).equals(protocolHeader.subarray(0, 4))
    ? 'the broker uses another version of AMQP'
    : 'the peer does not send AMQP frames';
}
