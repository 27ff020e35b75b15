import { Dialogue, type Message } from './dialogue.ts';

const answerMs = 60_000;

/** QEMU's monitor: what happens to the machine from outside (QMP). */
export class Monitor implements Disposable {
  readonly #dialogue: Dialogue;
  #last = 0;

  private constructor(dialogue: Dialogue) {
    this.#dialogue = dialogue;
  }

  static async at(path: string): Promise<Monitor> {
    const monitor = new Monitor(await Dialogue.at(path));
    await monitor.run('qmp_capabilities');
    return monitor;
  }

  async run(command: string, args: Message = {}): Promise<unknown> {
    const id = ++this.#last;
    this.#dialogue.say({ execute: command, arguments: args, id });
    const answer = await this.#dialogue.hear((message) => message['id'] === id, answerMs);
    if ('error' in answer) throw new Error(`${command}: ${JSON.stringify(answer['error'])}`);
    return answer['return'];
  }

  /** Waits for an event that has these data. */
  async event(name: string, data: Message): Promise<void> {
    const wanted = Object.entries(data);
    await this.#dialogue.hear(({ event, data: said = {} }) => {
      const has = said as Message;
      return event === name && wanted.every(([key, value]) => has[key] === value);
    }, answerMs);
  }

  [Symbol.dispose](): void {
    this.#dialogue[Symbol.dispose]();
  }
}
