import { connect, type Socket } from 'node:net';
import { type Answer, type Call, decode, encodeCall, type Value } from './message.ts';

/** Error reply to a call. */
class RefusedCallError extends Error {
  override readonly name = 'RefusedCallError';
}

/** Buffer limit in bytes, above any server greeting and any read-ahead. */
const maxUnread = 2_097_152;

/**
 * Connection to the system bus, for one call at a time. Whatever a peer does, a call ends with `signal` at the latest,
 * or with the connection.
 */
export class SystemBus implements Disposable {
  readonly #socket: Socket;
  readonly #signal: AbortSignal;
  #unread: Buffer = Buffer.alloc(0);
  #problem: Error | undefined;
  #changed = Promise.withResolvers<void>();
  #serial = 0;

  private constructor(socket: Socket, signal: AbortSignal) {
    this.#socket = socket;
    this.#signal = signal;
    socket.on('data', (bytes: Buffer) => {
      this.#unread = Buffer.concat([this.#unread, bytes]);
      if (this.#unread.length > maxUnread)
        this.#end(new Error(`the system bus sent more than ${maxUnread} bytes without a reply`));
      this.#changed.resolve();
    });
    socket.on('error', (error) => this.#end(error));
    socket.on('close', () => this.#end(new Error('the system bus closed the connection')));
    signal.addEventListener('abort', this.#abort, { once: true });
    if (signal.aborted) this.#abort();
  }

  /** Connects as this process's user. Rejects if impossible before `signal`. */
  static async connect(path: string, signal: AbortSignal): Promise<SystemBus> {
    const bus = new SystemBus(connect(path), signal);
    try {
      await bus.#introduce();
      return bus;
    } catch (error) {
      bus[Symbol.dispose]();
      throw error;
    }
  }

  /** Returns the first value in the reply. Rejects with a RefusedCallError on an error reply. */
  async call(call: Call): Promise<Value> {
    this.#serial += 1;
    const serial = this.#serial;
    this.#socket.write(encodeCall(serial, call));
    for (;;) {
      const answer = await this.#message();
      if (answer?.to !== serial) continue;
      if ('error' in answer) throw new RefusedCallError(`${answer.error}: ${answer.words}`);
      return answer.value;
    }
  }

  [Symbol.dispose](): void {
    this.#signal.removeEventListener('abort', this.#abort);
    this.#socket.destroy();
  }

  readonly #abort = (): void => {
    this.#end(this.#signal.reason as Error);
    this.#socket.destroy();
  };

  #end(problem: Error): void {
    this.#problem ??= problem;
    this.#changed.resolve();
  }

  /**
   * SASL EXTERNAL: the kernel identifies the client to the bus. Then sends Hello, every client's mandatory first call.
   */
  async #introduce(): Promise<void> {
    const uid = Buffer.from(String(process.getuid?.() ?? 0)).toString('hex');
    this.#socket.write(`\0AUTH EXTERNAL ${uid}\r\n`);
    const line = await this.#line();
    if (!/^OK [0-9a-f]+$/.test(line))
      throw new Error(`the system bus refused authentication: ${line}`);
    this.#socket.write('BEGIN\r\n');
    await this.call({
      destination: 'org.freedesktop.DBus',
      path: '/org/freedesktop/DBus',
      interface: 'org.freedesktop.DBus',
      member: 'Hello',
      arguments: [],
    });
  }

  async #line(): Promise<string> {
    for (;;) {
      const end = this.#unread.indexOf('\r\n');
      if (end >= 0) {
        const line = this.#unread.toString('utf8', 0, end);
        this.#unread = this.#unread.subarray(end + 2);
        return line;
      }
      await this.#more();
    }
  }

  async #message(): Promise<Answer | undefined> {
    for (;;) {
      const found = decode(this.#unread);
      if (found) {
        this.#unread = this.#unread.subarray(found.length);
        return found.answer;
      }
      await this.#more();
    }
  }

  async #more(): Promise<void> {
    if (this.#problem) throw this.#problem;
    await this.#changed.promise;
    this.#changed = Promise.withResolvers();
  }
}
