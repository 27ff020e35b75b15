import { setTimeout as wait } from 'node:timers/promises';
import type { ApiServer } from '../../../rig/apiserver/server.ts';
import { type FaultProxy, startFaultProxy } from '../../../rig/fault-proxy/fault-proxy.ts';
import type { RuleInput } from '../../../rig/fault-proxy/rules.ts';
import { createKubeClient } from '../../../src/kube/client/http-client.ts';
import { configMaps } from '../../../src/kube/core-resources.ts';
import { KubeError } from '../../../src/kube/errors.ts';
import { runWithLease } from '../../../src/kube/lease/lease.ts';
import { createLeaseClient } from '../../../src/kube/lease/lease-client.ts';
import { type Random, systemClock } from '../../../src/time/clock.ts';

export interface ContestOptions {
  readonly api: ApiServer;
  /** Name of the lease. */
  readonly name: string;
  readonly random: Random;
  readonly leaseMs: number;
  readonly lastsMs: number;
}

export interface ContestResult {
  /** How often somebody began to lead. */
  readonly terms: number;
  readonly lost: number;
  /** How often two led at once. */
  readonly overlaps: number;
  /** Writes that reached the proxy of a candidate while another one led. */
  readonly lateWrites: number;
  /** Work that outlived its lease; a real process ends then. */
  readonly overruns: number;
  /** Faults that met at least one request. */
  readonly faults: number;
}

const candidates = ['a', 'b', 'c'] as const;

/** More than a client has connections: what hangs fills them all. */
const writers = 20;

/** Lets three candidates contend for one lease, each behind a proxy of its own that fails in its own way. */
export async function runContest(options: ContestOptions): Promise<ContestResult> {
  const { api, random, lastsMs } = options;
  const stop = new AbortController();
  const terms: Term[] = [];
  const overruns: string[] = [];
  const proxies = await Promise.all(
    candidates.map((_, at) => startFaultProxy({ target: api.url, random: seeded(random, at) })),
  );
  const running = candidates.map((identity, at) => {
    const proxy = proxies[at] as FaultProxy;
    return campaign({ ...options, proxy, identity, terms, overruns }, stop.signal);
  });
  let faults = 0;
  const trouble = proxies.map(async (proxy) => {
    faults += await misbehave(proxy, options, stop.signal);
  });
  await wait(lastsMs);
  stop.abort(new Error('the contest is over'));
  await Promise.all(trouble);
  await Promise.all(running);
  const result = judge(terms, proxies);
  await Promise.all(proxies.map((proxy) => proxy.close()));
  return { ...result, overruns: overruns.length, faults };
}

/** A time in which a candidate led, by the clock of this process. */
interface Term {
  readonly identity: string;
  readonly from: number;
  to: number;
  lost: boolean;
}

interface Candidate extends ContestOptions {
  readonly proxy: FaultProxy;
  readonly identity: string;
  readonly terms: Term[];
  readonly overruns: string[];
}

async function campaign(candidate: Candidate, signal: AbortSignal): Promise<void> {
  const { api, proxy, name, random, identity, leaseMs, terms, overruns } = candidate;
  const access = proxy.through(api.access);
  await using client = createKubeClient(access, { clock: systemClock, random });
  await using leaseClient = createLeaseClient(access, {
    clock: systemClock,
    random,
    leaseDurationMs: leaseMs,
  });
  const lease = {
    client: leaseClient,
    namespace: 'default',
    name,
    identity,
    clock: systemClock,
    random,
    leaseDurationMs: leaseMs,
    onOverrun: () => void overruns.push(identity),
  };
  await runWithLease(lease, signal, async (leading) => {
    const term = { identity, from: performance.now(), to: Number.POSITIVE_INFINITY, lost: false };
    terms.push(term);
    await Promise.all(
      Array.from({ length: writers }, (_, n) => write(`${name}-${identity}-${n}`, leading)),
    );
    term.to = performance.now();
    term.lost = !signal.aborted;
  });

  /** Writes as long as this candidate leads, whatever becomes of it. */
  async function write(map: string, leading: AbortSignal): Promise<void> {
    const draft = { metadata: { namespace: 'default', name: map } };
    while (!leading.aborted) {
      try {
        await client.apply(configMaps, draft, { fieldManager: identity, signal: leading });
        await systemClock.sleep(150 + 100 * random(), leading);
      } catch (error) {
        // What the proxy did to it, or the end of the term, which ends the loop.
        if (!(error instanceof KubeError) && !leading.aborted) throw error;
      }
    }
  }
}

/** Gives a proxy one fault after the other until the signal aborts; how many of them met anything. */
async function misbehave(
  proxy: FaultProxy,
  { random, leaseMs }: ContestOptions,
  signal: AbortSignal,
): Promise<number> {
  let met = 0;
  while (!signal.aborted) {
    const fault = faultsOf(leaseMs)[Math.floor(random() * faultsOf(leaseMs).length)] as RuleInput;
    proxy.add({ fault: 'delay', ms: 0, spreadMs: (leaseMs / 6) * random() });
    proxy.add(fault);
    await pause(leaseMs * (0.3 + 1.5 * random()), signal);
    met += proxy.rules.filter(({ rule, met: times }) => rule.fault !== 'delay' && times > 0).length;
    proxy.clear();
    await pause(leaseMs * random(), signal);
  }
  return met;
}

function faultsOf(leaseMs: number): readonly RuleInput[] {
  return [
    { fault: 'hang' },
    { fault: 'hang', path: '/leases' },
    { fault: 'hang', path: '/configmaps' },
    { fault: 'hang', chance: 0.3 },
    { fault: 'black-hole' },
    { fault: 'black-hole', onlyNew: true },
    { fault: 'lost-answer', method: 'PATCH|POST', chance: 0.5 },
    { fault: 'lost-answer', method: 'PATCH|POST', path: '/leases', ending: 'reset' },
    { fault: 'half-answer', path: '/leases' },
    { fault: 'reset', chance: 0.5 },
    { fault: 'gone' },
    { fault: 'answer', status: 429, headers: { 'retry-after': '3' }, chance: 0.7 },
    { fault: 'delay', path: '/leases', ms: leaseMs / 2, spreadMs: leaseMs },
    { fault: 'slow-answer', bytesPerSecond: 300 },
  ];
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await systemClock.sleep(ms, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function judge(terms: readonly Term[], proxies: readonly FaultProxy[]) {
  const overlaps = terms.filter((one) =>
    terms.some((other) => other !== one && other.from < one.to && one.from <= other.from),
  );
  const lateWrites = candidates.flatMap((identity, at) =>
    (proxies[at]?.requests ?? []).filter(
      ({ atMs, path }) =>
        path.includes('/configmaps') &&
        terms.some((term) => term.identity !== identity && term.from < atMs && atMs < term.to),
    ),
  );
  return {
    terms: terms.length,
    lost: terms.filter(({ lost }) => lost).length,
    overlaps: overlaps.length,
    lateWrites: lateWrites.length,
  };
}

/** A sequence of its own for each proxy, so that how often one is asked does not change the others. */
function seeded(random: Random, at: number): Random {
  let state = Math.floor(random() * 2 ** 31) + at;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7f_ff_ff_ff;
    return state / 2 ** 31;
  };
}

/** The same sequence for the same seed. */
export function randomOf(seed: number): Random {
  return seeded(() => seed / 2 ** 31, 0);
}
