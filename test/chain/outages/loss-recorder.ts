import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { systemClock as clock } from '../../../src/time/clock.ts';
import { nodeConfigObjectOf } from '../waits.ts';
import type { Place } from './place.ts';

/** Records whatever is taken from the first NIC of a worker: links, addresses and routes on the host, its entry in the objects. */
export class LossRecorder implements AsyncDisposable {
  readonly #lines: string[] = [];
  readonly #monitor: ChildProcess;
  readonly #stop = new AbortController();
  readonly #looking: Promise<void>;

  private constructor(place: Place, monitor: ChildProcess) {
    this.#monitor = monitor;
    monitor.stdout?.on('data', (chunk: Buffer) => {
      const lines = chunk.toString().split('\n');
      this.#lines.push(...lines.filter((line) => /^Deleted .*\bmultinic0\b/.test(line)));
    });
    this.#looking = this.#look(place);
  }

  /** Resolves when it watches. */
  static async watch(place: Place): Promise<LossRecorder> {
    const args = ['-n', place.worker.host.netns, '-o', 'monitor', 'link', 'address', 'route'];
    const monitor = spawn('ip', args, { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(monitor, 'spawn');
    return new LossRecorder(place, monitor);
  }

  get lines(): readonly string[] {
    return this.#lines;
  }

  async #look({ world, worker }: Place): Promise<void> {
    const first = world.business.server.audit.length;
    while (!this.#stop.signal.aborted) {
      const { spec } = nodeConfigObjectOf(world, worker) ?? {};
      if (!spec?.interfaces?.some(({ name }) => name === 'multinic0')) {
        this.#lines.push(`MultiNicNodeConfig ${worker.name} without multinic0`);
      }
      await clock.sleep(200, this.#stop.signal).catch(() => undefined); // stopped
    }
    const deleted = world.business.server.audit
      .slice(first)
      .filter(({ verb, resource }) => verb === 'delete' && resource === 'multinicnodeconfigs');
    this.#lines.push(...deleted.map(({ user, name }) => `${user} deleted ${name}`));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    this.#monitor.kill();
    if (this.#monitor.exitCode === null) await once(this.#monitor, 'exit');
    await this.#looking;
  }
}
