// Runs inside the network namespace of a bench host: rounds of the agent's work and of the same operations by a raw
// `ip -batch`, one after the other. Prints what each took as JSON. Usage: agent-rounds.ts ROOT ROUNDS IPv4|dual
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../../rig/hosts/namespace/command.ts';
import { runAgent } from '../../src/agent/agent.ts';
import { connectTcp } from '../../src/agent/apply/connectivity.ts';
import { netplan } from '../../src/agent/backends/netplan.ts';
import { IpSession } from '../../src/agent/ip/session.ts';
import { readUnicastFilter } from '../../src/agent/observe/fdb.ts';
import { observeHost, siteAt } from '../../src/agent/observe/host.ts';
import { type PathReader, pathReader } from '../../src/agent/path/ip.ts';
import { batchLine, type Operation, sixPrefix } from '../../src/agent/planning/operation.ts';
import { planApply } from '../../src/agent/planning/plan.ts';
import { emptyState } from '../../src/agent/state.ts';
import { familyOf } from '../../src/api/address.ts';
import type { Effect } from '../../src/api/effects.ts';
import type { JobAction } from '../../src/api/job.ts';
import { createLogger } from '../../src/process/log.ts';
import { systemClock } from '../../src/time/clock.ts';
import { benchMacs, benchRequest, type Rounds, type Stack } from './agent-load.ts';

const [root, count, stack] = process.argv.slice(2) as [string, string, Stack];
const { signal } = new AbortController();
let effects: Effect[] = [];
let kernelMs = 0;
let lookupMs = 0;
let generation = 0;

const log = createLogger({ part: 'agent', level: 'warn', destination: process.stderr });

/** Adds the time of the reader's lookups to `lookupMs`. */
function timed(reader: PathReader): PathReader {
  return {
    start: () => reader.start(),
    end: () => reader.end(),
    rules: (family) => reader.rules(family),
    async lookUp(queries) {
      const begin = performance.now();
      try {
        return await reader.lookUp(queries);
      } finally {
        lookupMs += performance.now() - begin;
      }
    },
  };
}

/** Milliseconds that one run of the agent took, those of them in which it changed the kernel, and how much it wrote. */
async function agent(action: JobAction) {
  const [asked, result] = ['request', 'result'].map((name) => join(root, name)) as [string, string];
  writeFileSync(asked, JSON.stringify(benchRequest(action, generation, stack)));
  effects = [];
  kernelMs = 0;
  lookupMs = 0;
  const start = performance.now();
  const code = await runAgent(['--request', asked, '--result', result, '--host-root', root], {
    clock: systemClock,
    log,
    startIp: () => new IpSession(),
    unicastFilter: readUnicastFilter,
    paths: timed(pathReader()),
    tcp: connectTcp,
    signal,
    perform: async (name, write) => {
      effects.push(name);
      const begin = performance.now();
      try {
        return await write();
      } finally {
        if (name === 'agent.kernel.batch') kernelMs += performance.now() - begin;
      }
    },
    print: (text) => process.stdout.write(text),
    complain: (text) => process.stderr.write(text),
  });
  const ms = performance.now() - start;
  if (code !== 0) throw new Error(readFileSync(result, 'utf8'));
  return {
    ms,
    kernelMs,
    lookupMs,
    mutations: effects.filter((name) => name !== 'agent.result.write').length,
  };
}

/** The operations of the plan, and those that undo them. */
async function rawLines(): Promise<{ there: string[]; back: string[] }> {
  using ip = new IpSession();
  const macs = new Set(benchMacs);
  const host = await observeHost(
    { ...siteAt(root, ip, stack === 'dual'), backend: netplan },
    macs,
    emptyState,
  );
  const request = benchRequest('apply', 0, stack);
  const { units } = planApply({
    request,
    state: emptyState,
    host,
    backend: netplan,
    bootId: '',
  });
  const operations = units.flatMap(({ change }) => change.operations);
  return { there: operations.map(batchLine), back: operations.toReversed().flatMap(undone) };
}

function undone(operation: Operation): string[] {
  if (operation.kind === 'rule.add') return [batchLine({ ...operation, kind: 'rule.delete' })];
  if (operation.kind === 'address.add') {
    // Those of IPv6 go when the link goes down.
    return familyOf(operation.address.cidr) === 4
      ? [batchLine({ ...operation, kind: 'address.delete' })]
      : [];
  }
  if (operation.kind === 'link.up') return [batchLine({ ...operation, kind: 'link.down' })];
  if (operation.kind === 'link.mtu') return [batchLine({ ...operation, mtu: 1500 })];
  if (operation.kind === 'link.address-mode') return [batchLine({ ...operation, mode: 'eui64' })];
  if (operation.kind === 'link.rename') {
    return [batchLine({ ...operation, dev: operation.to, to: operation.dev })];
  }
  // Routes go with their link.
  return [];
}

/** One `ip` for all but the rules of IPv6, which are for a second one. */
async function raw(lines: readonly string[]): Promise<number> {
  const six = lines.filter((line) => line.startsWith(sixPrefix));
  const start = performance.now();
  await batch(
    [],
    lines.filter((line) => !line.startsWith(sixPrefix)),
  );
  if (six.length > 0)
    await batch(
      ['-6'],
      six.map((line) => line.slice(sixPrefix.length)),
    );
  return performance.now() - start;
}

async function batch(family: readonly string[], lines: readonly string[]): Promise<void> {
  const { code, stderr } = await run('ip', [...family, '-batch', '-'], `${lines.join('\n')}\n`);
  if (code !== 0) throw new Error(stderr);
}

const { there, back } = await rawLines();
const rounds: Rounds = {
  operations: there.length,
  apply: [],
  kernel: [],
  again: [],
  mutationsAgain: [],
  lookups: [],
  raw: [],
};
for (let round = 0; round < Number(count); round++) {
  generation += 1;
  const first = await agent('apply');
  rounds.apply.push(first.ms);
  rounds.kernel.push(first.kernelMs);
  const again = await agent('apply');
  rounds.again.push(again.ms);
  rounds.mutationsAgain.push(again.mutations);
  rounds.lookups.push(again.lookupMs);
  generation += 1;
  await agent('cleanup');
  rounds.raw.push(await raw(there));
  await raw(back);
}
process.stdout.write(JSON.stringify(rounds));
