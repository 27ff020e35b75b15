import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

export type Message = Readonly<Record<string, unknown>>;

/** The machine has ended, or its power was cut. */
export class ClosedError extends Error {
  override readonly name = 'ClosedError';
}

/** A socket of QEMU on which both sides say JSON, a line each. */
export class Dialogue implements Disposable {
  readonly #socket: Socket;
  readonly #heard: Message[] = [];
  #changed = Promise.withResolvers<void>();
  #isOver = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    // A machine whose power is cut ends it in the middle: `close` follows.
    const lines = createInterface({ input: socket }).on('line', (line) => this.#hear(line));
    for (const each of [lines, socket]) each.on('error', () => undefined);
    socket.on('close', () => {
      this.#isOver = true;
      this.#changed.resolve();
    });
  }

  /** QEMU makes its sockets before anything else, but it takes a moment to be there. */
  static async at(path: string): Promise<Dialogue> {
    for (let left = 400; ; left--) {
      try {
        return new Dialogue(await connected(path));
      } catch (error) {
        if (left === 0) throw error;
        await sleep(25);
      }
    }
  }

  /** `prefix` is what makes the other side forget half a line that it may have. */
  say(message: Message, prefix: Buffer = Buffer.alloc(0)): void {
    const line = Buffer.from(`${JSON.stringify(message)}\n`);
    this.#socket.write(Buffer.concat([prefix, line]));
  }

  /** The next message that is one of these; all that came before it is forgotten. Rejects after `ms`, or at the end. */
  async hear(isMeant: (message: Message) => boolean, ms: number): Promise<Message> {
    const patience = AbortSignal.timeout(ms);
    const over = new Promise((resolve) => {
      patience.addEventListener('abort', resolve, { once: true });
    });
    for (;;) {
      const at = this.#heard.findIndex(isMeant);
      const found = this.#heard[at];
      if (found) {
        this.#heard.splice(0, at + 1);
        return found;
      }
      if (this.#isOver) throw new ClosedError('QEMU has closed the socket');
      if (patience.aborted) throw new Error(`nothing was said within ${ms} ms`);
      this.#changed = Promise.withResolvers();
      await Promise.race([this.#changed.promise, over]);
    }
  }

  #hear(line: string): void {
    // The guest's agent begins the answer that follows such a prefix with one, which is no UTF-8.
    this.#heard.push(JSON.parse(line.replace(/^[^{]*/, '')) as Message);
    this.#changed.resolve();
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }
}

/** Connects to a socket that QEMU has made. */
export function connected(path: string): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const socket = connect(path, () => resolve(socket));
  socket.on('error', reject);
  return promise;
}
