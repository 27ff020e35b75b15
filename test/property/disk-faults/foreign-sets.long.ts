import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createHost, type NamespaceHost } from '../../../rig/hosts/namespace/host.ts';
import { ipOf } from '../../../src/api/address.ts';
import type { RequestInterface } from '../../../src/api/job.ts';
import { macOf, request } from '../../fixtures/agent-samples.ts';
import { runAgent } from '../../host/agent-process.ts';
import { stateOf } from '../../host/host-state.ts';
import { ipWith } from '../../host/line-by-line-ip.ts';
import { foreignLinks, type Story, someStory } from '../foreign-sets.ts';
import { makeFamily } from './family-hosts.ts';
import { filesBelow } from './pictures.ts';

const numRuns = Number(process.env['MULTINIC_FOREIGN_SETS'] ?? 10);
const numbers = [1, 2, 3];

type Intents = readonly (readonly RequestInterface[])[];

async function hostFor({ family, set }: Story): Promise<NamespaceHost> {
  const nics = Object.fromEntries(numbers.map((n) => [`ens${n}`, macOf(n)]));
  const host = await createHost('sets', { nics });
  const [{ ifindex }] = (await host.ipJson('link', 'show', 'eth0')) as [{ ifindex: number }];
  makeFamily(host.root, family, ifindex);
  for (const line of foreignLinks) await host.ip(...line.split(' '));
  const probes = numbers.map((n) => `/proc/sys/net/ipv6/conf/ens${n}/dad_transmits`);
  await host.exec('sh', '-c', `for file in ${probes.join(' ')}; do echo 0 >"$file"; done`);
  // What the kernel refuses, such as a second multipath of the same way, nobody has.
  for (const { line } of set) await host.exec('ip', ...line.split(' '));
  return host;
}

async function pictureOf(host: NamespaceHost): Promise<object> {
  return { ...(await kernelOf(host)), files: filesBelow(host.root, 'etc') };
}

const linkItself = /"type":"local","dst":"fe80:/;

/** Without the routes to a link's own address of IPv6, which the kernel makes in its own time. */
async function kernelOf(host: NamespaceHost) {
  const state = await stateOf(host);
  return { ...state, routes: state.routes.filter((route) => !linkItself.test(route)) };
}

/** What of a host is not ours, as far as these requests say. */
async function foreignOf(host: NamespaceHost, intents: Intents): Promise<string[]> {
  const { links, routes, rules } = await kernelOf(host);
  const macs = numbers.map(macOf);
  const ips = intents.flat().flatMap(({ addresses }) => addresses.map(ipOf));
  const isOurs = (line: string) =>
    /"multinic\d"/.test(line) || macs.some((mac) => line.includes(mac));
  const isOurRule = (line: string) =>
    /"priority":1010\d,/.test(line) && ips.some((ip) => line.includes(`"src":"${ip}"`));
  return [
    ...[...links, ...routes].filter((line) => !isOurs(line)),
    ...rules.filter((line) => !isOurRule(line)),
  ];
}

/** An `ip` whose kernel denies one line, once. */
function denyingOnce(host: NamespaceHost, line: number): Promise<string> {
  const lines = join(host.root, 'lines');
  return ipWith(
    host,
    `case $line in *show*) ;; *) echo >>${lines}
    [ "$(wc -l <${lines})" = ${line + 1} ] && fail 'RTNETLINK answers: Operation not permitted' ;;
  esac`,
  );
}

async function tell(story: Story): Promise<void> {
  await using host = await hostFor(story);
  const { family, intents, refused } = story;
  const ask = (generation: number, interfaces: readonly RequestInterface[], more = {}) =>
    request(interfaces, { protocol: 3, generation, family, ...more });
  const before = await pictureOf(host);
  const foreign = await foreignOf(host, intents);
  const untouched = async (when: string) =>
    expect(await foreignOf(host, intents), when).toEqual(foreign);

  const path = await denyingOnce(host, refused);
  const failed = await runAgent(host, ask(1, intents[0]), { path });
  expect(JSON.stringify(failed.result), failed.stderr).not.toContain('RollbackFailed');
  await untouched(`line ${refused} was refused`);
  await rm(path, { recursive: true });
  for (const [at, intent] of intents.entries()) {
    await runAgent(host, ask(2 + at, intent));
    await untouched(`intent ${at}`);
    const first = await pictureOf(host);
    const { effects } = await runAgent(host, ask(2 + at, intent, { attempt: 1 }));
    expect(effects.filter((name) => !/^agent\.(result|state)\./.test(name))).toEqual([]);
    expect(await pictureOf(host)).toEqual(first);
  }
  const clean = await runAgent(host, ask(4, [], { action: 'cleanup' }));
  expect(clean.result?.outcome, clean.stderr).toBe('ok');
  expect(await pictureOf(host)).toEqual(before);
}

test('whatever others have stays over refusal, change and removal; twice is once; a clean-up leaves what was before', async () => {
  await fc.assert(fc.asyncProperty(someStory, tell), { numRuns, endOnFailure: true });
}, 7_200_000);
