// CPU time of a poll that finds nothing new, for 1,000 and for 2,000 servers: the bundle's operator as a process started as its
// image starts it, cold, because a poll comes long after the poll before. Floor: a process started alike that sends the same
// requests by undici and reads the bodies. Ratios within one run.
import { type ChildProcess, spawn } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { bundle } from '../../build/bundler.ts';
import { entryPoint } from '../../build/entry-point.ts';
import { openstackConfigs } from '../../rig/chain/kinds.ts';
import { bundleFolder } from '../../rig/parts/program.ts';
import { annotations, namespaces } from '../../src/api/names.ts';
import { nodeConfigsPath, providerHeader } from '../../src/api/node-configs-http.ts';
import { openWorld, provider, type World } from '../fixtures/chain/world.ts';
import { cpuOf, Figures, median, rssOf } from './figures.ts';
import type { PollRequests } from './steady-requests.ts';
import { applyFor, makeTenant, readiness } from './tenants.ts';

const portsPerServer = 3;
const pollSeconds = 10;
/**
 * Polls before the measured ones: the last changes settle, the process releases the memory of its start, and the pauses of
 * src/process/memory-release.ts grow to several polls.
 */
const settling = 12;
const polls = 6;
/** The pause writes a status; the process is then idle. */
const pausing = 17_000;
const idleSeconds = 20;
const goals = { timesFloor: 6, timesHalf: 2.2 };
const name = 'bench';

/** What arrives at the cloud, which is in this process. */
class CloudRequests {
  readonly #origin: URL;
  #arrived: IncomingMessage[] = [];
  readonly #note = (message: unknown): void => {
    const { request } = message as { request: IncomingMessage };
    if (request.headers.host === this.#origin.host) this.#arrived.push(request);
  };

  constructor(origin: URL) {
    this.#origin = origin;
    subscribe('http.server.request.start', this.#note);
  }

  /** Waits for the next poll to come and to end; returns its requests. */
  async nextPoll(): Promise<readonly IncomingMessage[]> {
    this.#arrived = [];
    while (this.#arrived.length === 0) await wait(50);
    // A poll of 2,000 servers takes less than 2 s.
    await wait(3_000);
    return this.#arrived;
  }

  [Symbol.dispose](): void {
    unsubscribe('http.server.request.start', this.#note);
  }
}

/** Makes the requests of a poll by undici. */
class Floor implements Disposable {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor(requests: PollRequests) {
    const main = join(import.meta.dirname, 'steady-requests.ts');
    const { command, env } = entryPoint('operator', { node: process.execPath, main });
    const [program, ...args] = command;
    const stdio = ['pipe', 'pipe', 'inherit'] as const;
    this.#child = spawn(program, args, { stdio: [...stdio], env: { ...process.env, ...env } });
    if (!this.#child.stdout) throw new Error('the child has no output');
    this.#lines = createInterface(this.#child.stdout)[Symbol.asyncIterator]();
    this.#child.stdin?.write(`${JSON.stringify(requests)}\n`);
  }

  /** Returns the CPU milliseconds of one round. */
  async round(): Promise<number> {
    this.#child.stdin?.write('\n');
    const line = await this.#lines.next();
    return (JSON.parse(String(line.value)) as { cpuMs: number }).cpuMs;
  }

  [Symbol.dispose](): void {
    this.#child.kill();
  }
}

async function requestsOf(
  world: World,
  arrived: readonly IncomingMessage[],
): Promise<PollRequests> {
  const token = (await readFile(join(world.directory, 'operator-token'), 'utf8')).trim();
  const lists = arrived.map(({ url = '', headers }) => ({
    path: url,
    headers: { 'x-auth-token': String(headers['x-auth-token']) },
  }));
  const query = new URLSearchParams({ limit: '200', source: `${namespaces.system}/${name}` });
  const list = {
    path: `${nodeConfigsPath}?${query.toString()}`,
    headers: { authorization: `Bearer ${token}`, [providerHeader]: provider },
  };
  return {
    cloud: { origin: new URL(world.cloud.neutronUrl).origin, lists },
    viola: { origin: world.violaUrl, list },
  };
}

/** Delivers all servers; returns when their node configs have a status and the operator finds nothing more to do. */
async function settle(world: World, servers: number): Promise<void> {
  const tenant = makeTenant(world, name, servers, portsPerServer);
  await applyFor(world, name, tenant);
  const objects = () =>
    world.business.server.objects('multinicnodeconfigs.multinic.io', namespaces.system);
  while (objects().filter((object) => 'status' in object).length < servers) await wait(500);
  await world.parts.stop('controller');
}

/** Returns the CPU milliseconds per second of the operator without polls: Lease, watches and timers. */
async function idleMsPerSecond({ management }: World, pid: number): Promise<number> {
  const metadata = { annotations: { [annotations.paused]: 'true' } };
  const ref = { namespace: namespaces.system, name };
  await management.client.patch(openstackConfigs, ref, { metadata });
  await wait(pausing);
  const before = await cpuOf(pid);
  await wait(idleSeconds * 1000);
  return (1000 * ((await cpuOf(pid)) - before)) / idleSeconds;
}

async function measure(servers: number) {
  await using world = await openWorld([], { poll: `${pollSeconds}s` });
  await settle(world, servers);
  using cloud = new CloudRequests(new URL(world.cloud.neutronUrl));
  for (let poll = 1; poll < settling; poll++) await cloud.nextPoll();
  using floor = new Floor(await requestsOf(world, await cloud.nextPoll()));
  await floor.round();
  const pid = world.parts.pidOf('operator');
  const floors: number[] = [];
  const before = await cpuOf(pid);
  for (let poll = 0; poll < polls; poll++) {
    await cloud.nextPoll();
    floors.push(await floor.round());
  }
  const total = (1000 * ((await cpuOf(pid)) - before)) / polls;
  const { rssMb } = await rssOf(pid);
  const ready = readiness(world).get(name);
  if (ready !== 'NoChange') throw new Error(`the OpenstackConfig is ${ready}`);
  const idleMs = pollSeconds * (await idleMsPerSecond(world, pid));
  return { cpuMs: total - idleMs, idleMs, floorMs: median(floors), rssMb };
}

await bundle(bundleFolder);
const figures = new Figures();
const one = await measure(1_000);
const two = await measure(2_000);
const ms = (value: number) => `${value.toFixed(0)} ms`;
figures.note('poll without changes, 1,000 servers: CPU time', ms(one.cpuMs));
figures.note('the same requests by undici, bodies read', ms(one.floorMs));
figures.goal('its CPU time', one.cpuMs / one.floorMs, goals.timesFloor, 'times');
figures.goal('2,000 servers: CPU time, over that', two.cpuMs / one.cpuMs, goals.timesHalf, 'times');
figures.note('its CPU time, and the same requests', `${ms(two.cpuMs)}, ${ms(two.floorMs)}`);
figures.note(
  `taken off for ${pollSeconds} s without a poll`,
  `${ms(one.idleMs)}, ${ms(two.idleMs)}`,
);
figures.note('RSS of the processes', `${one.rssMb} MB, ${two.rssMb} MB`);
figures.end();
