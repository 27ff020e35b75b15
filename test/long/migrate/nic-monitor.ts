import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Worker } from './site.ts';

/** What the kernels of hosts tell of managed NICs, however brief it is. */
export class NicMonitor implements Disposable {
  /** NICs that went down. */
  readonly downs: string[] = [];
  /** Addresses that were taken off, be it for a moment. */
  readonly taken: string[] = [];
  readonly #processes: ChildProcess[];

  constructor(workers: readonly Worker[]) {
    this.#processes = workers.map(({ name, host }) => {
      const args = ['-n', host.netns, '-o', 'monitor', 'link', 'address'];
      const child = spawn('ip', args, { stdio: ['ignore', 'pipe', 'ignore'] });
      const up = new Set<string>();
      createInterface({ input: child.stdout }).on('line', (line) => {
        const [, link = '', state] = /: (multinic\d)@.* state (UP|DOWN)/.exec(line) ?? [];
        if (state === 'UP') up.add(link);
        // One that is new is down before it is up.
        if (state === 'DOWN' && up.delete(link)) this.downs.push(`${name}: ${line}`);
        const [, address] = /Deleted .*multinic\d +inet (\S+)/.exec(line) ?? [];
        if (address !== undefined) this.taken.push(address);
      });
      return child;
    });
  }

  [Symbol.dispose](): void {
    for (const child of this.#processes) child.kill();
  }
}
