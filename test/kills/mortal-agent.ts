import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { NamespaceHost } from '../../rig/hosts/namespace/host.ts';
import { mortalProgram } from '../../rig/parts/program.ts';
import { ipWith } from '../namespaces/line-by-line-ip.ts';

/** Command of the agent on all hosts of a world, which a file can tell to die once. */
export class MortalAgent {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Writes the command; answers what a kubelet runs. */
  async command(): Promise<readonly string[]> {
    const script = join(this.#directory, 'agent');
    const [moment, ip] = [this.#moment, this.#ip].map((path) => JSON.stringify(path));
    const lines = [
      '#!/bin/sh',
      'export LOG_LEVEL=debug',
      `if [ -e ${moment} ]; then export KILL_AT="$(cat ${moment})" KILL_AT_FILE=${moment}; fi`,
      `if [ -e ${ip} ]; then PATH=$(cat ${ip}):$PATH; fi`,
      `exec ${mortalProgram.map((word) => JSON.stringify(word)).join(' ')} agent "$@"`,
    ];
    await writeFile(script, `${lines.join('\n')}\n`, { mode: 0o755 });
    return [script];
  }

  /** The next agent that comes to this moment dies. */
  async dieAt(moment: string): Promise<void> {
    await writeFile(this.#moment, moment);
  }

  /** The next agent whose `ip` is about to make this change, the first one being 1, dies. */
  async dieAtLine(host: NamespaceHost, line: number): Promise<void> {
    const each = `case $line in *show*) ;; *)
      changes=$((\${changes:-0} + 1))
      [ $changes = ${line} ] && { rm ${this.#ip}; kill -KILL $PPID; exit 1; } ;;
    esac`;
    await writeFile(this.#ip, await ipWith(host, each));
  }

  /** Whether an agent came to where it was told to die. */
  get hasDied(): boolean {
    return !existsSync(this.#moment) && !existsSync(this.#ip);
  }

  get #moment(): string {
    return join(this.#directory, 'kill-at');
  }

  get #ip(): string {
    return join(this.#directory, 'ip');
  }
}
