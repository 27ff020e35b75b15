import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AgentDeps, runAgent } from '../../src/agent/agent.ts';
import type { PathReader } from '../../src/agent/path/ip.ts';
import { type JobRequest, jobResult } from '../../src/api/job.ts';
import { createLogger } from '../../src/process/log.ts';
import { createFakeClock } from '../../src/time/fake-clock.ts';
import { host, link } from '../fixtures/agent-samples.ts';
import type { ModelOptions } from './kernel-model.ts';
import { ModelHost } from './model-host.ts';

const log = createLogger({ part: 'agent', level: 'fatal', destination: { write: () => true } });

/** The model has no route lookups. */
const unknownPaths: PathReader = {
  start: () => undefined,
  lookUp: async () => undefined,
  rules: async () => undefined,
  end: () => undefined,
};

/** The agent on a host with three free NICs, of which the kernel is the model. */
export class AgentOnModel implements Disposable {
  readonly box: ModelHost;
  readonly clock = createFakeClock();
  /** What the last run has written, by name. */
  effects: string[] = [];

  private constructor(box: ModelHost) {
    this.box = box;
  }

  static async open(
    kernel = host([link(1), link(2), link(3)]),
    options: ModelOptions = { promote: false },
  ): Promise<AgentOnModel> {
    return new AgentOnModel(await ModelHost.of(kernel, options));
  }

  /** One run of the agent; its clock goes on by itself while it waits for the kernel. */
  async run(asked: JobRequest, more: Partial<AgentDeps> = {}) {
    const { box, clock } = this;
    const [requestFile, result] = ['request', 'result'].map((name) => join(box.root, name)) as [
      string,
      string,
    ];
    writeFileSync(requestFile, JSON.stringify(asked));
    this.effects = [];
    const argv = ['--request', requestFile, '--result', result, '--host-root', box.root];
    const code = await runAgent(argv, {
      clock: { ...clock, sleep: (ms) => clock.advance(ms) },
      log,
      perform: async (name, write) => {
        this.effects.push(name);
        return write();
      },
      startIp: () => ({ run: (lines) => box.run(lines), [Symbol.dispose]: () => undefined }),
      unicastFilter: async () => [],
      paths: unknownPaths,
      tcp: async () => 'silent',
      signal: new AbortController().signal,
      print: () => undefined,
      complain: () => undefined,
      ...more,
    });
    return { code, ...jobResult.parse(JSON.parse(readFileSync(result, 'utf8'))) };
  }

  /** What this file of the agent's says is of another boot: the manager has read what was there at this one. */
  anotherBoot(name = 'state.json'): void {
    const file = join(this.box.root, 'var/lib/multinic', name);
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replaceAll(/"bootId": ?"[^"]*"/g, '"bootId":"b"'));
  }

  [Symbol.dispose](): void {
    this.box[Symbol.dispose]();
  }
}
