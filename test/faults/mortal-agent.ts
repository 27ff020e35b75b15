import { rm, stat, writeFile } from 'node:fs/promises';
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
      `if [ -e ${moment} ]; then KILL_AT=$(cat ${moment}); export KILL_AT; rm ${moment}; fi`,
      `if [ -e ${ip} ]; then PATH=$(cat ${ip}):$PATH; rm ${ip}; fi`,
      `exec ${mortalProgram.map((word) => JSON.stringify(word)).join(' ')} agent "$@"`,
    ];
    await writeFile(script, `${lines.join('\n')}\n`, { mode: 0o755 });
    return [script];
  }

  /** The next agent dies at this moment. */
  async dieAt(moment: string): Promise<void> {
    await writeFile(this.#moment, moment);
  }

  /** The next agent dies when its `ip` is about to make this change of a batch, the first one being 1. */
  async dieAtLine(host: NamespaceHost, line: number): Promise<void> {
    const each = `case $line in *show*) ;; *)
      changes=$((\${changes:-0} + 1))
      [ $changes = ${line} ] && { touch ${this.#hit}; kill -KILL $PPID; exit 1; } ;;
    esac`;
    await rm(this.#hit, { force: true });
    await writeFile(this.#ip, await ipWith(host, each));
  }

  /** Whether the `ip` of an agent came to the line. */
  async diedAtLine(): Promise<boolean> {
    return stat(this.#hit).then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return false;
        throw error;
      },
    );
  }

  get #moment(): string {
    return join(this.#directory, 'kill-at');
  }

  get #ip(): string {
    return join(this.#directory, 'ip');
  }

  get #hit(): string {
    return join(this.#directory, 'line-was-reached');
  }
}
