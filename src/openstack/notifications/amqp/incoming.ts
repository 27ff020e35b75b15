import { BrokerFailure } from '../broker-failure.ts';
import { ValueReader } from './values.ts';

/** Complete message. */
export interface Delivery {
  readonly tag: bigint;
  /** undefined: longer than the limit. */
  readonly body: Buffer | undefined;
}

/** RabbitMQ's maximum message size (bytes). */
const maxMessageBytes = 512n * 1024n * 1024n;

interface PartialMessage {
  readonly tag: bigint;
  /** Bytes still missing; undefined: no header yet. */
  missing: number | undefined;
  /** undefined: discarded. */
  body: Buffer | undefined;
}

/** Assembles a message from its method, header and body frames; oversized messages are discarded. */
export class Incoming {
  readonly #longest: number;
  #partial: PartialMessage | undefined;

  constructor(longest: number) {
    this.#longest = longest;
  }

  begin(deliver: ValueReader): void {
    if (this.#partial) throw outOfTurn();
    deliver.shortText();
    this.#partial = { tag: deliver.longLong(), missing: undefined, body: undefined };
  }

  announce(header: Buffer): Delivery | undefined {
    const begun = this.#partial;
    if (begun?.missing !== undefined || !begun) throw outOfTurn();
    const values = new ValueReader(header);
    // Class id, and a weight that is always 0.
    values.long();
    const size = values.longLong();
    if (size > maxMessageBytes)
      throw new BrokerFailure('protocol', `the broker sent a message of ${size} bytes`);
    begun.missing = Number(size);
    if (begun.missing <= this.#longest) begun.body = Buffer.alloc(begun.missing);
    return this.#ended(begun);
  }

  add(piece: Buffer): Delivery | undefined {
    const begun = this.#partial;
    if (begun?.missing === undefined || piece.length > begun.missing) throw outOfTurn();
    const { body, missing } = begun;
    // A single allocation per message, however small the frames are.
    if (body) piece.copy(body, body.length - missing);
    begun.missing = missing - piece.length;
    return this.#ended(begun);
  }

  #ended({ tag, missing, body }: PartialMessage): Delivery | undefined {
    if (missing !== 0) return undefined;
    this.#partial = undefined;
    return { tag, body };
  }
}

function outOfTurn(): BrokerFailure {
  return new BrokerFailure('protocol', 'the broker sent an unexpected part of a message');
}
