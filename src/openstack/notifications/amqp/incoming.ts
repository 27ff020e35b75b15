import { BrokerFailure } from '../broker-failure.ts';
import { ValueReader } from './values.ts';

/** A message that has come completely. */
export interface Delivery {
  readonly tag: bigint;
  /** Undefined: it was longer than anybody reads. */
  readonly body: Buffer | undefined;
}

/** RabbitMQ knows no longer ones. */
const longestAnnounced = 512n * 1024n * 1024n;

interface Begun {
  readonly tag: bigint;
  /** Bytes that are still to come; undefined = not announced yet. */
  missing: number | undefined;
  /** Undefined: it is not kept. */
  body: Buffer | undefined;
}

/** Puts a message together from its method, header and body; one that is too long passes by without being kept. */
export class Incoming {
  readonly #longest: number;
  #begun: Begun | undefined;

  constructor(longest: number) {
    this.#longest = longest;
  }

  begin(deliver: ValueReader): void {
    if (this.#begun) throw outOfTurn();
    deliver.shortText();
    this.#begun = { tag: deliver.longLong(), missing: undefined, body: undefined };
  }

  announce(header: Buffer): Delivery | undefined {
    const begun = this.#begun;
    if (begun?.missing !== undefined || !begun) throw outOfTurn();
    const values = new ValueReader(header);
    // Its class and a weight that is always 0.
    values.long();
    const size = values.longLong();
    if (size > longestAnnounced) throw new BrokerFailure('protocol', `a message of ${size} bytes`);
    begun.missing = Number(size);
    if (begun.missing <= this.#longest) begun.body = Buffer.alloc(begun.missing);
    return this.#ended(begun);
  }

  add(piece: Buffer): Delivery | undefined {
    const begun = this.#begun;
    if (begun?.missing === undefined || piece.length > begun.missing) throw outOfTurn();
    const { body, missing } = begun;
    // One piece of memory, however small the pieces are in which it comes.
    if (body) piece.copy(body, body.length - missing);
    begun.missing = missing - piece.length;
    return this.#ended(begun);
  }

  #ended({ tag, missing, body }: Begun): Delivery | undefined {
    if (missing !== 0) return undefined;
    this.#begun = undefined;
    return { tag, body };
  }
}

function outOfTurn(): BrokerFailure {
  return new BrokerFailure('protocol', 'a piece of a message out of turn');
}
