import { type ChildProcess, spawn } from 'node:child_process';
import { expect, vi } from 'vitest';
import type { Node } from '../../../rig/control-plane/node.ts';
import { generous } from './acts.ts';

/** Records the netlink events of links, addresses, routes and rules that are not of our NICs. */
export class PrimaryMonitor implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #lines: string[] = [];
  readonly #started: Promise<void>;
  readonly #ended: Promise<unknown>;

  constructor(node: Node) {
    const command = ['ip', '-t', '-o', 'monitor', 'link', 'address', 'route', 'rule'];
    this.#child = spawn('nsenter', [`--net=/run/netns/${node.netns}`, ...command], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#child.stdout?.on('data', (chunk: Buffer) => {
      this.#lines.push(...chunk.toString().split('\n'));
    });
    this.#ended = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#started = new Promise((resolve) => this.#child.once('spawn', resolve));
  }

  get started(): Promise<void> {
    return this.#started;
  }

  /** Events that name the node's own NIC, or a rule that is not of our NICs. */
  get events(): readonly string[] {
    return this.#lines.filter((line) => /\beth0\b/.test(line) || isForeignRule(line));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGTERM');
    await this.#ended;
  }
}

/** Resolves when a boot has done what it does to the node's own NIC: IPv6's check for duplicates is last. */
export async function primaryIsSettled(node: Node): Promise<void> {
  const checked = ['ip', '-6', '-o', 'addr', 'show', 'dev', 'eth0', 'scope', 'link', '-tentative'];
  await vi.waitFor(async () => expect(await node.sh(checked)).not.toBe(''), generous);
}

/** Such as `Deleted 111:	from 10.99.0.1 lookup 200`. */
function isForeignRule(line: string): boolean {
  const priority = /^(?:Deleted )?(\d+):\s+(?:not )?from /.exec(line)?.[1];
  return priority !== undefined && !/^1010\d$/.test(priority);
}
