/** AMQP 0-9-1 wire values (specification, 4.2.5), limited to a consumer's needs. */

export function octet(value: number): Buffer {
  return Buffer.of(value);
}

export function short(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

export function long(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

export function longLong(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(value);
  return bytes;
}

/** At most 255 bytes. */
export function shortText(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([octet(bytes.length), bytes]);
}

export function longText(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([long(bytes.length), bytes]);
}

export interface Table {
  readonly [name: string]: string | true | Table;
}

export function table(fields: Table): Buffer {
  const entries = Object.entries(fields).map(([name, value]) =>
    Buffer.concat([shortText(name), field(value)]),
  );
  const bytes = Buffer.concat(entries);
  return Buffer.concat([long(bytes.length), bytes]);
}

function field(value: Table[string]): Buffer {
  if (value === true) return Buffer.from('t\u0001');
  return typeof value === 'string'
    ? Buffer.concat([Buffer.from('S'), longText(value)])
    : Buffer.concat([Buffer.from('F'), table(value)]);
}

/** Reads values in order; throws RangeError beyond the end. */
export class ValueReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  short(): number {
    return this.#bytes.readUInt16BE(this.#take(2));
  }

  long(): number {
    return this.#bytes.readUInt32BE(this.#take(4));
  }

  longLong(): bigint {
    return this.#bytes.readBigUInt64BE(this.#take(8));
  }

  shortText(): string {
    const length = this.#bytes.readUInt8(this.#take(1));
    const from = this.#take(length);
    if (this.#at > this.#bytes.length) throw new RangeError('the text is truncated');
    return this.#bytes.toString('utf8', from, this.#at);
  }

  #take(length: number): number {
    const from = this.#at;
    this.#at += length;
    return from;
  }
}
