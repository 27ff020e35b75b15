import { type ChildProcess, spawn } from 'node:child_process';
import type { Node } from '../../rig/control-plane/node.ts';

/** Records every netlink event of the node's own NIC: link, address, neighbour excepted, route. */
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

  /** Events that name eth0, or change a route or rule that names none of our NICs. */
  get events(): readonly string[] {
    return this.#lines.filter((line) => /\beth0\b/.test(line));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGTERM');
    await this.#ended;
  }
}
