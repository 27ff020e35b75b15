import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { NamespaceHost } from '../../../rig/hosts/namespace/host.ts';
import { mortalAgent } from '../../../rig/parts/mortal.ts';
import { ipWith } from '../../host/line-by-line-ip.ts';
import type { MortalAgent } from './site.ts';

/** Command of the agent on all hosts of a world, which a file can tell to die once. */
export class MortalAgents {
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
      `exec ${mortalAgent.map((word) => JSON.stringify(word)).join(' ')} "$@"`,
    ];
    await writeFile(script, `${lines.join('\n')}\n`, { mode: 0o755 });
    return [script];
  }

  /** How the agents of one host are told. */
  on(host: NamespaceHost): MortalAgent {
    return {
      dieAt: async (moment) =>
        typeof moment === 'number'
          ? this.#dieAtLine(host, moment)
          : writeFile(this.#moment, moment),
      hasDied: async () => !existsSync(this.#moment) && !existsSync(this.#ip),
    };
  }

  /** The agent whose `ip` is about to make this change, the first one being 1, dies. */
  async #dieAtLine(host: NamespaceHost, line: number): Promise<void> {
    const each = `case $line in *show*) ;; *)
      changes=$((\${changes:-0} + 1))
      [ $changes = ${line} ] && { rm ${this.#ip}; kill -KILL $PPID; exit 1; } ;;
    esac`;
    await writeFile(this.#ip, await ipWith(host, each));
  }

  get #moment(): string {
    return join(this.#directory, 'kill-at');
  }

  get #ip(): string {
    return join(this.#directory, 'ip');
  }
}
