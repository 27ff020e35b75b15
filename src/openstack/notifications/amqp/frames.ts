import { BrokerFailure } from '../broker-failure.ts';
import { long, octet, short } from './values.ts';

/** What the client of AMQP 0-9-1 says first. */
export const protocolHeader = Buffer.from('AMQP\u0000\u0000\u0009\u0001', 'latin1');

export const frameTypes = { method: 1, header: 2, body: 3, heartbeat: 8 } as const;

export interface Frame {
  readonly type: number;
  readonly channel: number;
  readonly payload: Buffer;
}

/** The longest frame that we take, its seven bytes of header and the one at its end included. */
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

/** Cuts what comes into frames. */
export class FrameReader {
  #held: Buffer = Buffer.alloc(0);

  /** The frames that these bytes complete. Throws BrokerFailure where there can be none. */
  *read(bytes: Buffer): Generator<Frame> {
    this.#held = this.#held.length === 0 ? bytes : Buffer.concat([this.#held, bytes]);
    // What is no broker shows in its first byte already.
    while (this.#held.length > 0) {
      const frame = this.#next(this.#held);
      if (!frame) return;
      yield frame;
    }
  }

  #next(held: Buffer): Frame | undefined {
    const type = held.readUInt8(0);
    if (!isKnown(type)) throw new BrokerFailure('protocol', noFrame(held));
    if (held.length < 7) return undefined;
    const size = held.readUInt32BE(3);
    if (size + around > longestFrame) {
      throw new BrokerFailure('protocol', `a frame of ${size} bytes`);
    }
    if (held.length < size + around) return undefined;
    if (held.readUInt8(size + 7) !== frameEnd) throw new BrokerFailure('protocol', noFrame(held));
    this.#held = held.subarray(size + around);
    return { type, channel: held.readUInt16BE(1), payload: held.subarray(7, size + 7) };
  }
}

function isKnown(type: number): boolean {
  return Object.values(frameTypes).some((known) => known === type);
}

/** A broker of another version answers with the header of its own. */
function noFrame(held: Buffer): string {
  return held.subarray(0, 4).equals(protocolHeader.subarray(0, 4))
    ? 'it speaks another version of AMQP'
    : 'what it says is no frame of AMQP';
}
