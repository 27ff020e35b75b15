/** D-Bus messages (specification, "Message Protocol"), reduced to a client making a few calls. */

/** Call argument: a string, an object path, a 32-bit integer, or a boolean in a variant. */
export type Argument =
  | { readonly text: string }
  | { readonly object: string }
  | { readonly int32: number }
  | { readonly variant: boolean };

export interface Call {
  readonly destination: string;
  readonly path: string;
  readonly interface: string;
  readonly member: string;
  readonly arguments: readonly Argument[];
}

/** Decoded value; undefined for types the agent does not need. */
export type Value = string | number | boolean | undefined;

export type Answer =
  | { readonly to: number; readonly value: Value }
  | { readonly to: number; readonly error: string; readonly words: string };

/** Bytes unusable as a reply. */
export class BadMessageError extends Error {
  override readonly name = 'BadMessageError';
}

/** Size limit in bytes: a reply to our calls has some hundred bytes. */
const maxLength = 1_048_576;
const fixedLength = 16;
const methodCall = 1;
const methodReturn = 2;
const failure = 3;
const fields = { path: 1, interface: 2, member: 3, error: 4, to: 5, destination: 6, signature: 8 };

/** Little endian, like every machine with an agent image. */
const littleEndian = 0x6c;

export function encodeCall(serial: number, call: Call): Buffer {
  const body = new Writer();
  for (const argument of call.arguments) {
    if ('text' in argument) body.text(argument.text);
    else if ('object' in argument) body.text(argument.object);
    else if ('int32' in argument) body.uint32(argument.int32);
    else body.signature('b').uint32(Number(argument.variant));
  }
  const signature = call.arguments.map(typeOf).join('');
  const head = new Writer();
  const field = (code: number, type: string): Writer => head.align(8).byte(code).signature(type);
  field(fields.path, 'o').text(call.path);
  field(fields.interface, 's').text(call.interface);
  field(fields.member, 's').text(call.member);
  field(fields.destination, 's').text(call.destination);
  if (signature) field(fields.signature, 'g').signature(signature);
  const length = head.length;
  const fixed = new Writer().byte(littleEndian).byte(methodCall).byte(0).byte(1);
  fixed.uint32(body.length).uint32(serial).uint32(length);
  return Buffer.concat([fixed.bytes, head.align(8).bytes, body.bytes]);
}

function typeOf(argument: Argument): string {
  if ('text' in argument) return 's';
  if ('object' in argument) return 'o';
  return 'int32' in argument ? 'i' : 'v';
}

/**
 * Returns the first message's answer and length in bytes; undefined while incomplete. Messages other than replies have
 * no answer. Throws a BadMessageError.
 */
export function decode(bytes: Buffer): { answer?: Answer; length: number } | undefined {
  if (bytes.length < fixedLength) return undefined;
  if (bytes[0] !== littleEndian) throw new BadMessageError('not a little-endian D-Bus message');
  const [bodyLength, headLength] = [bytes.readUInt32LE(4), bytes.readUInt32LE(12)];
  const bodyAt = aligned(fixedLength + headLength, 8);
  const length = bodyAt + bodyLength;
  if (length > maxLength)
    throw new BadMessageError(`D-Bus message of ${length} bytes exceeds the limit of ${maxLength}`);
  if (bytes.length < length) return undefined;
  try {
    const head = new Reader(bytes.subarray(0, fixedLength + headLength), fixedLength);
    const body = new Reader(bytes.subarray(bodyAt, length), 0);
    const answer = answerOf(bytes[1], headerOf(head), body);
    return answer ? { answer, length } : { length };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new BadMessageError('D-Bus message is truncated', { cause: error });
  }
}

function headerOf(head: Reader): Map<number, Value> {
  const values = new Map<number, Value>();
  while (!head.isAtEnd) {
    const code = head.align(8).byte();
    values.set(code, head.variant());
  }
  return values;
}

function answerOf(type: number | undefined, header: Map<number, Value>, body: Reader) {
  const to = header.get(fields.to);
  if (typeof to !== 'number' || (type !== methodReturn && type !== failure)) return undefined;
  const signature = header.get(fields.signature);
  const [first = ''] = typeof signature === 'string' ? signature : '';
  const value = body.value(first);
  if (type === methodReturn) return { to, value };
  return { to, error: String(header.get(fields.error) ?? ''), words: String(value ?? '') };
}

function aligned(at: number, to: number): number {
  return Math.ceil(at / to) * to;
}

class Writer {
  readonly #bytes: number[] = [];

  get length(): number {
    return this.#bytes.length;
  }

  get bytes(): Buffer {
    return Buffer.from(this.#bytes);
  }

  align(to: number): this {
    while (this.#bytes.length % to !== 0) this.#bytes.push(0);
    return this;
  }

  byte(value: number): this {
    this.#bytes.push(value);
    return this;
  }

  uint32(value: number): this {
    const four = Buffer.alloc(4);
    four.writeUInt32LE(value);
    this.align(4).#bytes.push(...four);
    return this;
  }

  text(value: string): this {
    const bytes = Buffer.from(value);
    this.uint32(bytes.length).#bytes.push(...bytes, 0);
    return this;
  }

  signature(value: string): this {
    this.#bytes.push(value.length, ...Buffer.from(value), 0);
    return this;
  }
}

/** Reads values; throws a RangeError past the last byte. */
class Reader {
  readonly #bytes: Buffer;
  #at: number;

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes;
    this.#at = at;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  align(to: number): this {
    this.#at = aligned(this.#at, to);
    return this;
  }

  byte(): number {
    const value = this.#bytes.readUInt8(this.#at);
    this.#at += 1;
    return value;
  }

  #uint32(): number {
    this.align(4);
    const value = this.#bytes.readUInt32LE(this.#at);
    this.#at += 4;
    return value;
  }

  #text(length: number): string {
    const end = this.#at + length;
    if (end >= this.#bytes.length) throw new RangeError('D-Bus message is too short');
    const value = this.#bytes.toString('utf8', this.#at, end);
    this.#at = end + 1;
    return value;
  }

  variant(): Value {
    const type = this.#text(this.byte());
    if (!/^[ybuiosg]$/.test(type)) throw new BadMessageError(`unsupported D-Bus type ${type}`);
    return this.value(type);
  }

  /** Reads a value of a type used in replies; undefined for any other type. */
  value(type: string): Value {
    if (type === 'y') return this.byte();
    if (type === 'u' || type === 'i') return this.#uint32();
    if (type === 'b') return this.#uint32() === 1;
    if (type === 's' || type === 'o') return this.#text(this.#uint32());
    if (type === 'g') return this.#text(this.byte());
    return type === 'v' ? this.variant() : undefined;
  }
}
