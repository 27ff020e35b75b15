import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createHost, type NamespaceHost } from '../../rig/hosts/namespace/host.ts';
import type { JobRequest } from '../../src/api/job.ts';
import { request } from '../fixtures/agent-samples.ts';
import { nic, runAgent } from './agent-process.ts';
import { type HostState, stateOf } from './host-state.ts';
import { ipWith } from './line-by-line-ip.ts';

const macs = ['02:00:00:00:01:05', '02:00:00:00:01:06', '02:00:00:00:01:07'] as const;
const gateway = '10.0.0.254';

/** Two NICs … */
const start = request([
  nic(0, macs[0], '10.0.0.11/16', { gateway }),
  nic(1, macs[1], '10.0.0.12/16', { gateway }),
]);
/** … of which one gets another address, MTU and routes, and one makes room for a third. */
const change = request([
  nic(0, macs[0], '10.0.0.21/16', { mtu: 1400, routes: [{ to: '10.77.0.0/24', via: gateway }] }),
  nic(2, macs[2], '10.1.0.13/16'),
]);

/** What a line of a state names when it is about one NIC, in either state. */
const wordsOf = [
  ['multinic0', '10.0.0.11', '10.0.0.21'],
  ['multinic1', '"ens6"', '10.0.0.12'],
  ['multinic2', '"ens7"', '10.1.0.13'],
] as const;

let host: NamespaceHost;
let generation = 1;
let old: HostState;
let changed: HostState;
let moments: readonly string[];

const next = (asked: JobRequest): JobRequest => ({ ...asked, generation: generation++ });

async function settle(asked: JobRequest) {
  const run = await runAgent(host, next(asked));
  expect(run.result?.outcome, run.stderr).toBe('ok');
  expect(await leftovers()).toEqual([]);
  return run.effects;
}

async function leftovers(): Promise<string[]> {
  const directories = ['var/lib/multinic', 'var/lib/multinic/journal', 'etc/netplan'];
  const names = await Promise.all(directories.map((path) => readdir(join(host.root, path))));
  return names.flat().filter((name) => /^\.|\.new$|^\d\.json$/.test(name));
}

function slice(state: HostState, words: readonly string[]): string {
  const about = (line: string) => words.some((word) => line.includes(word));
  const lines = [...state.links, ...state.routes, ...state.rules].filter(about);
  const files = Object.entries(state.files).filter(([name]) => about(name));
  return JSON.stringify([lines, files], undefined, 1);
}

/** A request that is refused has the host recovered and nothing else done. */
async function expectWholeNics(moment: string): Promise<void> {
  const stale = await runAgent(host, { ...change, generation: 0 });
  expect(stale.result?.refusal?.reason, moment).toBe('StaleRequest');
  const state = await stateOf(host);
  for (const words of wordsOf) {
    const ends = [slice(old, words), slice(changed, words)];
    expect(ends, `${words[0]}, killed ${moment}`).toContain(slice(state, words));
  }
}

/** Kills the agent before this line of the so-manieth batch of a run. */
function dyingAt(batch: number, line: number): string {
  const batches = join(host.root, 'batches');
  return `[ $number = 1 ] && echo >>${batches}
  [ "$(wc -l <${batches}) $number" = "${batch} ${line}" ] && { kill -KILL $PPID; exit 1; }`;
}

beforeAll(async () => {
  host = await createHost('crash', { nics: { ens5: macs[0], ens6: macs[1], ens7: macs[2] } });
  await settle(start);
  // The second round starts from what a removal leaves of a NIC, as all later ones do.
  await settle(change);
  await settle(start);
  old = await stateOf(host);
  moments = await settle(change);
  changed = await stateOf(host);
});

afterAll(() => host.down());

const patience = 300_000;

describe('a crash', () => {
  test.each(['before', 'after'])(
    '[RW-03] %s any external write leaves each NIC fully old or fully new, and the next run finishes',
    async (phase) => {
      const killed = moments.filter((moment) => moment.includes(` ${phase} `));
      expect(killed.length).toBeGreaterThan(15);
      for (const moment of killed) {
        await settle(start);
        expect((await runAgent(host, next(change), { killAt: moment })).code, moment).toBe(137);
        await expectWholeNics(moment);
        await settle(change);
        expect(await stateOf(host), moment).toEqual(changed);
      }
    },
    patience,
  );

  test(
    'in the middle of a batch leaves each NIC fully old or fully new, and the next run works on',
    async () => {
      await settle(start);
      for (const batch of [1, 2]) {
        for (let line = 1, died = true; died; line++) {
          const path = await ipWith(host, dyingAt(batch, line));
          await rm(join(host.root, 'batches'), { force: true });
          died = (await runAgent(host, next(change), { path })).code === 137;
          await expectWholeNics(`batch ${batch}, line ${line}`);
          await settle(start);
          expect(await stateOf(host)).toEqual(old);
        }
      }
    },
    patience,
  );

  test(
    'during the recovery from a crash is recovered from',
    async () => {
      const recovery = { ...change, generation: 0 };
      const crash = async (moment: string) => {
        await settle(start);
        await runAgent(host, next(change), { killAt: moment });
      };
      for (const moment of ['agent.kernel.batch after 2', 'agent.file.commit after 1']) {
        await crash(moment);
        const { effects } = await runAgent(host, recovery);
        const writes = effects.filter((effect) => !effect.startsWith('agent.result'));
        expect(writes.length).toBeGreaterThan(4);
        for (const again of writes) {
          await crash(moment);
          expect((await runAgent(host, recovery, { killAt: again })).code, again).toBe(137);
          await settle(change);
          expect(await stateOf(host), `${moment}, then ${again}`).toEqual(changed);
        }
      }
    },
    patience,
  );
});
