import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import type { Output } from '../namespace/command.ts';
import { Dialogue, type Message } from './dialogue.ts';

const answerMs = 120_000;
const flush = Buffer.from([0xff]);

const started = z.object({ pid: z.int() });
const status = z.object({
  exited: z.boolean(),
  exitcode: z.int().optional(),
  signal: z.int().optional(),
  'out-data': z.string().default(''),
  'err-data': z.string().default(''),
});

/** QEMU's agent inside the guest, which runs commands whatever the guest's network is like. */
export class GuestAgent implements Disposable {
  readonly #dialogue: Dialogue;
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(dialogue: Dialogue) {
    this.#dialogue = dialogue;
  }

  /** Resolves once it answers. */
  static async at(path: string, bootMs: number): Promise<GuestAgent> {
    const agent = new GuestAgent(await Dialogue.at(path));
    await agent.#sync(bootMs);
    return agent;
  }

  async exec(command: readonly string[], stdin = ''): Promise<Output> {
    const [path, ...arg] = command;
    const input = stdin === '' ? {} : { 'input-data': Buffer.from(stdin).toString('base64') };
    const asked = { path, arg, 'capture-output': true, ...input };
    const { pid } = started.parse(await this.#run('guest-exec', asked));
    for (let pauseMs = 10; ; pauseMs = Math.min(pauseMs * 1.5, 250)) {
      const now = status.parse(await this.#run('guest-exec-status', { pid }));
      if (now.exited) return outputOf(now);
      await sleep(pauseMs);
    }
  }

  /** It answers one after the other, and does not say what. */
  #run(command: string, args: Message): Promise<unknown> {
    const answer = this.#turn.then(async () => {
      this.#dialogue.say({ execute: command, arguments: args });
      const heard = await this.#dialogue.hear(() => true, answerMs);
      if ('error' in heard) throw new Error(`${command}: ${JSON.stringify(heard['error'])}`);
      return heard['return'];
    });
    // Whoever asked is told how it ended; the next one only waits for the end.
    this.#turn = Promise.allSettled([answer]);
    return answer;
  }

  /** A guest that boots has not begun to listen, one that goes on may have half a command of the one before. */
  async #sync(ms: number): Promise<void> {
    const id = 1_000_000 + Math.trunc(performance.now());
    this.#dialogue.say({ execute: 'guest-sync-delimited', arguments: { id } }, flush);
    await this.#dialogue.hear((message) => message['return'] === id, ms);
  }

  [Symbol.dispose](): void {
    this.#dialogue[Symbol.dispose]();
  }
}

function outputOf({ exitcode, signal = 0, ...data }: z.infer<typeof status>): Output {
  return {
    code: exitcode ?? 128 + signal,
    stdout: fromBase64(data['out-data']),
    stderr: fromBase64(data['err-data']),
  };
}

function fromBase64(text: string): string {
  return Buffer.from(text, 'base64').toString();
}
