import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';

/** Keys: the rc files bind the first to a command that prints the edited line. */
const keys = { show: '\u0007', clear: '\u0015', tab: '\t', end: '\u0004' };

/** What a TAB did. */
export interface Completed {
  /** The edited line. */
  readonly line: string;
  /** Terminal output from the TAB to the end of the completion. */
  readonly shown: string;
}

/** An interactive shell on a terminal of its own, which `script` of util-linux opens. */
export class Shell implements AsyncDisposable {
  readonly #script: ChildProcessWithoutNullStreams;
  #output = '';
  #hasEnded = false;
  /** Settles at the next output, or the end of the shell. */
  #more = Promise.withResolvers<void>();

  private constructor(command: string, env: NodeJS.ProcessEnv) {
    const words = ['--quiet', '--flush', '--command', command, '/dev/null'];
    this.#script = spawn('script', words, { env: { ...env, TERM: 'dumb' } });
    this.#script.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.#output += text;
      this.#more.resolve();
      this.#more = Promise.withResolvers();
    });
    this.#script.once('close', () => {
      this.#hasEnded = true;
      this.#more.resolve();
    });
  }

  /** Starts a shell with the prompt READY. Before a prompt the terminal itself would edit the line. */
  static async start(command: string, env: NodeJS.ProcessEnv): Promise<Shell> {
    const shell = new Shell(command, env);
    await shell.#until(/READY/);
    return shell;
  }

  /** Types a line and TAB. */
  async complete(line: string): Promise<Completed> {
    this.#output = '';
    this.#script.stdin.write(`${line}${keys.tab}${keys.show}${keys.clear}`);
    const [shown, edited = ''] = await this.#until(/LINE<([^>]*)>/);
    return { line: edited, shown };
  }

  /** Resolves to the output up to the end of the match, and the groups of the match. */
  async #until(pattern: RegExp): Promise<readonly [string, ...string[]]> {
    for (;;) {
      const found = pattern.exec(this.#output);
      if (found) return [this.#output.slice(0, found.index), ...found.slice(1)];
      if (this.#hasEnded) throw new Error(`the shell ended: ${this.#output}`);
      await this.#more.promise;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#script.exitCode !== null) return;
    const closed = once(this.#script, 'close');
    this.#script.stdin.end(keys.end);
    this.#script.kill();
    await closed;
  }
}
