import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { createHost, type NamespaceHost, primary } from '../../rig/hosts/namespace/host.ts';
import { ipOf } from '../../src/api/address.ts';
import type { JobAction, JobResult, NicResult, RequestInterface } from '../../src/api/job.ts';
import { request } from '../fixtures/agent-samples.ts';
import { randomOf } from '../property/leaders/contest.ts';
import { commits } from '../rotation.ts';
import { nic, runAgent } from './agent-process.ts';
import { filesOfOurs } from './family-host.ts';
import {
  type Deed,
  type DeedName,
  type DeedTarget,
  deeds,
  type Plug,
  recordedLinks,
  script,
} from './foreign-deeds.ts';
import { type NicShown, type Picture, pictureOf } from './foreign-picture.ts';
import { ipWith } from './line-by-line-ip.ts';

// Foreign changes come and go between and during agent runs; the kernel's state shows whether each result is true.
const isLong = process.env['MULTINIC_TEST_DEPTH'] === 'all';
const lives = isLong ? 40 : 4;
const runsPerLife = isLong ? 10 : 5;
// CI uses fixed seeds; the long suite uses new seeds for each commit.
const firstSeed = Number(process.env['MULTINIC_FOREIGN_SEED'] ?? (isLong ? commits() * 100 : 1));

const plugs: readonly [Plug, Plug, Plug] = [
  { mac: '02:00:00:00:01:05', name: 'ens5' },
  { mac: '02:00:00:00:01:06', name: 'ens6' },
  { mac: '02:00:00:00:01:07', name: 'ens7' },
];
const macs = plugs.map(({ mac }) => mac);

/** Requests for a NIC with this index. */
const variants: readonly ((index: number, mac: string) => RequestInterface)[] = [
  (index, mac) => nic(index, mac, `10.${index}.0.11/16`, { gateway: `10.${index}.0.254` }),
  (index, mac) => nic(index, mac, `10.${index}.0.21/16`, { gateway: `10.${index}.0.254` }),
  (index, mac) => nic(index, mac, `10.${index}.0.11/16`, { mtu: 1400 }),
  (index, mac) =>
    nic(index, mac, `10.${index}.0.11/16`, {
      addresses: [`10.${index}.0.11/16`, `fd0${index}::11/64`],
    }),
];
const isOurs = (ip: string) => /^(10\.[012]\.0\.|fd0[012]:)/.test(ip);

interface Done {
  readonly name: DeedName;
  readonly scene: DeedTarget;
  readonly deed: Deed;
  /** File created when the change was done. */
  readonly done: string;
}

class Life {
  readonly host: NamespaceHost;
  readonly random: () => number;
  readonly log: string[] = [];
  #generation = 0;
  #number = 0;
  #inForce: Done[] = [];
  #planned: Done[] = [];

  constructor(host: NamespaceHost, seed: number) {
    this.host = host;
    this.random = randomOf(seed);
  }

  pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.random() * items.length)] as T;
  }

  get inForce(): readonly Done[] {
    return this.#inForce;
  }

  newDeed(): Done {
    const names = Object.keys(deeds) as DeedName[];
    const { netns, fabric, root } = this.host;
    const number = ++this.#number;
    const name = this.pick(names);
    const on = name === 'wayOut' ? plugs[0] : this.pick(plugs);
    const others = [...this.#inForce, ...this.#planned].filter(({ scene }) => scene.on === on);
    // A veth outliving its twin is indistinguishable from the NIC.
    const taken = name === 'twin' || name === 'unplug' ? ['twin', 'unplug'] : [name];
    if (others.some((other) => taken.includes(other.name))) return this.newDeed();
    const scene: DeedTarget = { number, on, netns, fabric };
    const deed = deeds[name](scene);
    const planned = { name, scene, deed, done: join(root, `done-${number}`) };
    this.#planned.push(planned);
    return planned;
  }

  async act({ deed, scene, done, name }: Done): Promise<void> {
    const { code, stderr } = await this.host.exec('bash', '-c', script(deed.does, scene, done));
    this.log.push(`${name} ${scene.number} on ${scene.on.name}: ${code === 0 ? 'done' : stderr}`);
  }

  async end(one: Done): Promise<void> {
    this.#inForce = this.#inForce.filter((each) => each !== one);
    const { name, deed, scene } = one;
    await this.host.exec('bash', '-c', script(deed.ends, scene, join(this.host.root, 'ended')));
    this.log.push(`end of ${name} ${scene.number}`);
  }

  /** Records the changes actually done; they stay active from now on. */
  async note(tried: readonly Done[]): Promise<readonly Done[]> {
    const names = new Set(await readdir(this.host.root));
    const done = tried.filter(({ scene }) => names.has(`done-${scene.number}`));
    this.#inForce.push(...done);
    this.#planned = [];
    return done;
  }

  /** Returns a directory with an `ip` showing recorded links, and making each change before the given line. */
  async ipDuring(during: readonly (readonly [number, Done])[]): Promise<string> {
    const { root } = this.host;
    const events = join(root, 'events');
    await rm(events, { recursive: true, force: true });
    await mkdir(events);
    await writeFile(join(events, 'count'), '0\n');
    for (const [line, { deed, scene, done }] of during)
      await writeFile(join(events, `${line}`), script(deed.does, scene, done));
    // No change happens within a snapshot, as no snapshot could show it.
    return ipWith(
      this.host,
      `if ! [[ $line =~ ^(route|rule|neigh|addr).show ]]; then
    at=$(($(cat ${events}/count) + 1)); echo $at >${events}/count
    [ ! -e ${events}/$at ] || bash ${events}/$at >/dev/null 2>&1
  fi
  if [ "$line" = 'link show' ]; then
    echo look >>${events}/looks
    ip -N -j -d $line | sed '1s#^\\[#[${recordedLinks(macs)},#'; continue
  fi`,
    );
  }

  async run(action: JobAction, entries: readonly RequestInterface[], path?: string) {
    const jobRequest = request([...entries], { action, generation: ++this.#generation });
    const { result, stderr } = await runAgent(this.host, jobRequest, path ? { path } : {});
    if (!result) throw new Error(`no result: ${stderr}`);
    const wished = entries.map(({ mac, addresses, mtu }) => [mac, ...addresses, mtu].join(' '));
    const reported = result.nics.map((each) =>
      [each.mac, each.name, each.state, each.reason, each.message].join(' '),
    );
    this.log.push(`${action} of ${wished.join('; ')}`, ...reported, ...result.warnings);
    return result;
  }

  picture(): Promise<Picture> {
    return pictureOf(this.host, macs);
  }
}

/** A NIC result with the data for judging it. */
interface JudgedResult {
  readonly nic: NicResult;
  readonly entry: RequestInterface | undefined;
  readonly before: Picture;
  readonly after: Picture;
  /** Foreign changes during the run. */
  readonly during: readonly Done[];
}

function expectTrue(reported: JudgedResult): void {
  const { state, reason } = reported.nic;
  if (state === 'Configured' && !isReadOnce(reported)) {
    expectConfigured(reported.nic, reported.entry, reported.after);
  } else if (state === 'Removed') expectRemoved(reported);
  else if (reason === 'WaitingForNIC')
    expect(reported.after.nics.get(reported.nic.mac)).toEqual([]);
  else if (state === 'Failed' && reason !== 'RollbackFailed') expectAsBefore(reported);
}

function expectRemoved({ nic: { mac, name }, after, during }: JudgedResult): void {
  const [now] = after.nics.get(mac) ?? [];
  // The NIC may be unplugged after its release, while other NICs are changed.
  if (!now && during.some((one) => one.name === 'unplug' && one.scene.on.mac === mac)) return;
  expect(now?.addresses.filter((cidr) => isOurs(cidr)) ?? []).toEqual([]);
  expect(name).toBe(now?.name ?? '');
}

/** True if a correct NIC was changed after the agent's read: the agent reads such a NIC only once. */
function isReadOnce({ nic: reported, entry, before, during }: JudgedResult): boolean {
  const [former] = before.nics.get(reported.mac) ?? [];
  return (
    isRight(former, reported, entry) && during.some(({ scene }) => scene.on.mac === reported.mac)
  );
}

/** Expects a failed NIC rolled back, or never changed. */
function expectAsBefore({ nic: { mac, message }, before, after, during }: JudgedResult): void {
  const [now, twin] = after.nics.get(mac) ?? [];
  const [former] = before.nics.get(mac) ?? [];
  // A message has room for 120 bytes.
  const isUndone = during.length === 0 || /(; rolled back|…)$/.test(message);
  if (isUndone && !twin && now && former) expect(partOf(now)).toEqual(partOf(former));
}

const partOf = ({ name, up, mtu, addresses }: NicShown) => ({
  name,
  up,
  mtu,
  addresses: addresses.filter((cidr) => isOurs(cidr)).toSorted(),
});

function isRight(
  former: NicShown | undefined,
  { name }: NicResult,
  entry?: RequestInterface,
): boolean {
  if (!former || !entry) return false;
  const { mtu, addresses } = entry;
  const wanted = { name, up: true, mtu, addresses: addresses.toSorted() };
  return isDeepStrictEqual(partOf(former), wanted);
}

function expectConfigured(
  reported: NicResult,
  entry: RequestInterface | undefined,
  after: Picture,
) {
  const { name, index } = reported;
  const { addresses = [], mtu, gateway } = entry ?? {};
  expect(entry).toBeDefined();
  const links = after.nics.get(reported.mac) ?? [];
  expect(links).toMatchObject([{ name, up: true, mtu, master: undefined }]);
  expect(links[0]?.addresses.filter((cidr) => isOurs(cidr)).toSorted()).toEqual(
    addresses.toSorted(),
  );
  if (!gateway) return;
  expect(after.defaults).toContain(`${name} ${100 + index}`);
  for (const cidr of addresses.filter((each) => !each.includes(':')))
    expect(after.rules).toContain(`from ${ipOf(cidr)} lookup ${100 + index}`);
}

/**
 * Expects all foreign state present, except on unplugged NICs, and on released NICs back to "down". A NIC changed by
 * foreign software during the run may lose state: the agent does not restore state on a NIC in use.
 */
function expectUntouched(life: Life, before: Picture, after: Picture, during: readonly Done[]) {
  const unplugged = life.inForce.filter(({ name }) => name === 'unplug');
  const gone = new Set([...unplugged, ...during].map(({ scene }) => scene.on.mac));
  const stays = life.inForce.flatMap(({ deed, scene }) => {
    const { stays: always = [], staysOnNic = [] }: Deed = deed;
    const isDown = after.nics.get(scene.on.mac)?.some(({ up }) => !up);
    const mayGo = isDown || gone.has(scene.on.mac);
    return [...always, ...(mayGo ? [] : staysOnNic.filter((line) => before.lines.includes(line)))];
  });
  const hasWayOut = life.inForce.some(({ name }) => name === 'wayOut');
  const own = [
    `link eth0 up ${primary.mac}`,
    `address ${primary.address}/16 eth0`,
    ...(hasWayOut ? [] : ['route default eth0 main']),
  ];
  expect([...own, ...stays].filter((line) => !after.lines.includes(line))).toEqual([]);
}

/** Picture without state the kernel makes for links in its own time. */
const lasting = ({ nics, lines }: Picture) => [
  ...nics,
  ...lines.filter((line) => !/ (255|fe80::\S+|ff00::\S+|multicast \S+) | 255$/.test(line)),
];

/** Expects NICs without harmful foreign changes to be as requested; links sharing only the MAC are harmless. */
function expectGood(life: Life, { nics }: JobResult, during: readonly Done[]) {
  const harmless: readonly DeedName[] = ['bridge', 'tap', 'vxlan', 'elsewhere', 'neighbour'];
  const isHarmful = ({ name }: Done) => !harmless.includes(name);
  if (during.some(isHarmful)) return;
  const disturbed = new Set(life.inForce.filter(isHarmful).map(({ scene }) => scene.on.mac));
  for (const { mac, state, message } of nics)
    if (!disturbed.has(mac)) expect(['Configured', 'Removed'], message).toContain(state);
}

async function oneRun(life: Life): Promise<void> {
  for (const one of life.inForce) if (life.random() < 0.35) await life.end(one);
  for (let n = Math.floor(3 * life.random()); n > 0; n--) {
    const one = life.newDeed();
    await life.act(one);
    await life.note([one]);
  }
  const entries = plugs.flatMap(({ mac }, index) =>
    life.random() < 0.75
      ? [life.pick(variants.slice(0, life.random() < 0.2 ? 4 : 3))(index, mac)]
      : [],
  );
  const action = life.pick(['apply', 'apply', 'apply', 'apply', 'check', 'cleanup'] as const);
  const planned = Array.from({ length: Math.floor(3 * life.random()) }, () => life.newDeed());
  const during = planned.map((one) => [1 + Math.floor(16 * life.random() ** 1.5), one] as const);
  for (const [line, one] of during)
    life.log.push(`before line ${line}: ${one.name} ${one.scene.number} on ${one.scene.on.name}`);
  const before = await life.picture();
  const path = await life.ipDuring(during);
  const result = await life.run(action, action === 'cleanup' ? [] : entries, path);
  const done = await life.note(planned);
  const after = await life.picture();
  expectUntouched(life, before, after, done);
  if (action !== 'check') expectGood(life, result, done);
  for (const reported of result.nics) {
    const entry = entries.find(({ mac }) => mac === reported.mac);
    expectTrue({ nic: reported, entry, before, after, during: done });
  }
  if (action === 'check' && done.length === 0) expect(lasting(after)).toEqual(lasting(before));
}

/** Expects every NIC to be configurable and releasable after all foreign changes ended. */
async function expectEnd(life: Life): Promise<void> {
  for (const one of life.inForce) await life.end(one);
  const all = plugs.map(({ mac }, index) => variants[0]?.(index, mac) as RequestInterface);
  const result = await life.run('apply', all);
  expect(result.nics.map(({ state }) => state)).toEqual(all.map(() => 'Configured'));
  const after = await life.picture();
  for (const reported of result.nics) expectConfigured(reported, all[reported.index], after);
  const removed = await life.run('cleanup', []);
  expect(removed).toMatchObject({ outcome: 'ok', warnings: [] });
  const end = await life.picture();
  expect(
    [...end.lines, ...end.rules].filter((line) => /\b(10\.[012]\.0\.|fd0[012]:)/.test(line)),
  ).toEqual([]);
  expect(await filesOfOurs(life.host)).toEqual({});
  expect(await readdir(join(life.host.root, 'var/lib/multinic/journal'))).toEqual([]);
}

test.concurrent.each(Array.from({ length: lives }, (_, n) => firstSeed + n))(
  'foreign changes before and during a run survive, and each result is true (seed %i)',
  async (seed) => {
    const nics = Object.fromEntries(plugs.map(({ name, mac }) => [name, mac]));
    await using host = await createHost(`life-${seed}`, { nics });
    const life = new Life(host, seed);
    try {
      for (let n = 0; n < runsPerLife; n++) await oneRun(life);
      await expectEnd(life);
    } catch (error) {
      const { message } = error as Error;
      throw new Error(`seed ${seed}:\n${life.log.join('\n')}\n${message}`, { cause: error });
    }
  },
  600_000,
);
