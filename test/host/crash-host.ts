import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { createHost, type NamespaceHost } from '../../rig/hosts/namespace/host.ts';
import type { JobRequest } from '../../src/api/job.ts';
import { request } from '../fixtures/agent-samples.ts';
import { scaled } from '../speed.ts';
import { type AgentRun, nic, type RunOptions, runAgent } from './agent-process.ts';
import { type HostState, stateOf } from './host-state.ts';

const macs = ['02:00:00:00:01:05', '02:00:00:00:01:06', '02:00:00:00:01:07'] as const;
const gateway = '10.0.0.254';

/** Request for two NICs. */
export const start = request([
  nic(0, macs[0], '10.0.0.11/16', { gateway }),
  nic(1, macs[1], '10.0.0.12/16', { gateway }),
]);
/** Request with another address, MTU and routes for the first NIC, and a third NIC instead of the second. */
export const change = request([
  nic(0, macs[0], '10.0.0.21/16', { mtu: 1400, routes: [{ to: '10.77.0.0/24', via: gateway }] }),
  nic(2, macs[2], '10.1.0.13/16'),
]);

/** Search words per NIC in state lines, before and after the change. */
const wordsOf = [
  ['multinic0', '10.0.0.11', '10.0.0.21'],
  ['multinic1', '"ens6"', '10.0.0.12'],
  ['multinic2', '"ens7"', '10.1.0.13'],
] as const;

/** Time limit in ms for a test killing the agent at each write. */
export const patience = scaled(300_000);

/** Namespace host whose NICs switch between `start` and `change` while agents are killed. */
export class CrashHost implements AsyncDisposable {
  readonly host: NamespaceHost;
  /** External writes in a run from `start` to `change`, as `NAME PHASE NUMBER`. */
  moments: readonly string[] = [];
  #generation = 1;
  #old: HostState | undefined;
  #changed: HostState | undefined;

  private constructor(host: NamespaceHost) {
    this.host = host;
  }

  /** Creates a host with the NICs in `start`, and records both states. */
  static async open(name: string): Promise<CrashHost> {
    const nics = { ens5: macs[0], ens6: macs[1], ens7: macs[2] };
    const crash = new CrashHost(await createHost(name, { nics }));
    await crash.settle(start);
    // The second round starts from a released NIC, like all later rounds.
    await crash.settle(change);
    await crash.settle(start);
    crash.#old = await stateOf(crash.host);
    crash.moments = await crash.settle(change);
    crash.#changed = await stateOf(crash.host);
    return crash;
  }

  /** Host state after `start`. */
  get old(): HostState {
    return recorded(this.#old);
  }

  /** Host state after `change`. */
  get changed(): HostState {
    return recorded(this.#changed);
  }

  /** Runs the agent with the request's next generation. */
  run(jobRequest: JobRequest, options: RunOptions = {}): Promise<AgentRun> {
    return runAgent(
      this.host,
      { ...jobRequest, generation: this.#generation++ },
      {
        traced: true,
        ...options,
      },
    );
  }

  /** Runs the agent to completion; returns its external writes. */
  async settle(jobRequest: JobRequest): Promise<readonly string[]> {
    const run = await this.run(jobRequest);
    expect(run.result?.outcome, run.stderr).toBe('ok');
    expect(await this.#leftovers()).toEqual([]);
    return run.effects;
  }

  /** Runs the agent with a stale request, which only recovers the host. */
  recover(options: RunOptions = {}): Promise<AgentRun> {
    return runAgent(this.host, { ...change, generation: 0 }, { traced: true, ...options });
  }

  /** Recovers the host, and expects each NIC fully old or fully new. */
  async expectWholeNics(moment: string): Promise<void> {
    const stale = await this.recover();
    expect(stale.result?.refusal?.reason, moment).toBe('StaleRequest');
    const state = await stateOf(this.host);
    for (const words of wordsOf) {
      const ends = [slice(this.old, words), slice(this.changed, words)];
      expect(ends, `${words[0]}, killed ${moment}`).toContain(slice(state, words));
    }
  }

  /** Kills the agent at each external write in a phase: NICs stay whole, and the next run finishes the change. */
  async dieAtEachWrite(phase: 'before' | 'after'): Promise<void> {
    const killed = this.moments.filter((moment) => moment.includes(` ${phase} `));
    expect(killed.length).toBeGreaterThan(15);
    for (const moment of killed) {
      await this.settle(start);
      expect((await this.run(change, { killAt: moment })).code, moment).toBe(137);
      await this.expectWholeNics(moment);
      await this.settle(change);
      expect(await stateOf(this.host), moment).toEqual(this.changed);
    }
  }

  async #leftovers(): Promise<string[]> {
    const directories = ['var/lib/multinic', 'var/lib/multinic/journal', 'etc/netplan'];
    const paths = directories.map((path) => join(this.host.root, path));
    const names = await Promise.all(paths.map((path) => readdir(path)));
    return names.flat().filter((name) => /^\.|\.new$|^\d\.json$/.test(name));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.host.down();
  }
}

function recorded(state: HostState | undefined): HostState {
  if (!state) throw new Error('the state is not recorded yet');
  return state;
}

function slice(state: HostState, words: readonly string[]): string {
  const about = (line: string) => words.some((word) => line.includes(word));
  const lines = [...state.links, ...state.routes, ...state.rules].filter(about);
  const files = Object.entries(state.files).filter(([name]) => about(name));
  return JSON.stringify([lines, files], undefined, 1);
}
