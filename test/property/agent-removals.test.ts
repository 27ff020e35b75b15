import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { bootId } from '../../src/agent/apply/context.ts';
import { readState } from '../../src/agent/apply/memory.ts';
import { netplan } from '../../src/agent/backends/netplan.ts';
import { observeHost, readSettings, siteAt } from '../../src/agent/observe/host.ts';
import { desiredNic } from '../../src/agent/planning/desired.ts';
import { recordOf } from '../../src/agent/planning/ownership.ts';
import type { Link, Snapshot } from '../../src/agent/snapshot.ts';
import { type AgentState, atBoot } from '../../src/agent/state.ts';
import { ipOf, networkOf } from '../../src/api/address.ts';
import type { JobRequest, JobResult } from '../../src/api/job.ts';
import { interfaceName, routingTable, rulePriority } from '../../src/api/names.ts';
import {
  address,
  entry,
  freshSettings,
  host,
  link,
  macOf,
  request,
  route,
  rule,
} from '../fixtures/agent-samples.ts';
import { scaled } from '../speed.ts';
import { AgentOnModel } from './agent-on-model.ts';

const numbers = [1, 2, 3, 4, 5] as const;
const macs = numbers.map(macOf);
/** NIC of the legacy agent at the start of each life. */
const legacy = 5;

interface Ask extends Partial<JobRequest> {
  readonly kind: 'run';
  /** Number of the deleting `ip` line that the kernel refuses. */
  readonly refusedLine: number | undefined;
}

type Act =
  | Ask
  | { readonly kind: 'unplug' | 'plug' | 'twin'; readonly n: number }
  | { readonly kind: 'boot' };

const someMacs = fc.subarray(macs);
const inOrder = [1, 2, 3, 4, 5];
/** The legacy agent's NIC has a subnet for itself; other NICs share a subnet. */
const subnetOf = (n: number) => (n === legacy ? '10.9.0' : '10.0.0');

function entryOf(n: number, index = n - 1, ip = n) {
  const subnet = subnetOf(n);
  return entry(n, { index, addresses: [`${subnet}.${ip}/24`], gateway: `${subnet}.254` });
}

const someEntries = fc
  .tuple(
    fc.subarray([...numbers]),
    fc.shuffledSubarray([0, 1, 2, 3, 4], { minLength: 5 }),
    fc.oneof(
      { weight: 2, arbitrary: fc.constant(inOrder) },
      { weight: 1, arbitrary: fc.shuffledSubarray(inOrder, { minLength: 5 }) },
    ),
  )
  .map(([wanted, indexes, ips]) => wanted.map((n) => entryOf(n, indexes[n - 1], ips[n - 1])));

const someRun: fc.Arbitrary<Ask> = fc.record({
  kind: fc.constant('run' as const),
  protocol: fc.constantFrom(4, 4, 4, 4, 3),
  action: fc.constantFrom('apply', 'apply', 'apply', 'cleanup', 'check'),
  interfaces: someEntries,
  keep: fc.oneof(fc.constant<string[]>([]), someMacs),
  mayRemove: fc.oneof(fc.constant<string[]>([]), someMacs),
  mayRemoveIfGone: someMacs,
  refusedLine: fc.option(fc.nat({ max: 6 }), { nil: undefined, freq: 3 }),
});

const someAct: fc.Arbitrary<Act> = fc.oneof(
  { weight: 5, arbitrary: someRun },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom<'unplug' | 'plug' | 'twin'>(
        ...(['unplug', 'unplug', 'plug', 'plug', 'plug', 'twin'] as const),
      ),
      n: fc.constantFrom(...numbers),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'boot' as const }) },
);

/** A host with four free NICs, and one of the legacy agent. */
async function open(): Promise<AgentOnModel> {
  const index = legacy - 1;
  const nic = link(legacy, { name: interfaceName(index), up: true, mtu: 1450 });
  const wanted = entryOf(legacy);
  const [cidr = ''] = wanted.addresses;
  const bed = await AgentOnModel.open(
    host([link(1), link(2), link(3), link(4), nic], {
      addresses: [address(nic.name, cidr)],
      routes: [route(networkOf(cidr), nic.name, { table: routingTable(index) })],
      rules: [rule(`${ipOf(cidr)}/32`, routingTable(index), 32_765, { protocol: 0 })],
    }),
  );
  const { main } = netplan.render(desiredNic(wanted, index, nic, []));
  writeFileSync(join(bed.box.root, main.path), main.text, { mode: main.mode });
  return bed;
}

/** Selects NICs whose link has the name for their index. */
const isNamedLike =
  ({ links }: Snapshot) =>
  ({ mac, index }: { readonly mac: string; readonly index: number }) =>
    links.some((each) => each.mac === mac && each.name === interfaceName(index));

class Life implements Disposable {
  readonly #bed: AgentOnModel;
  #generation = 0;

  constructor(bed: AgentOnModel) {
    this.#bed = bed;
  }

  get root(): string {
    return this.#bed.box.root;
  }

  get state(): AgentState {
    return atBoot(readState(this.root), bootId());
  }

  get kernel() {
    return this.#bed.box.kernel;
  }

  run(asked: JobRequest, refusedLine: number | undefined) {
    let deletions = 0;
    this.#bed.box.refuses = (line) => / del |^rule del/.test(line) && deletions++ === refusedLine;
    this.#generation += 1;
    return this.#bed.run({ ...asked, generation: this.#generation });
  }

  /** MACs of known NICs that the request neither lists nor permits to leave. */
  async staying(asked: JobRequest): Promise<string[]> {
    const { action, interfaces, keep = [], mayRemove = [], mayRemoveIfGone = [] } = asked;
    const { links } = this.kernel;
    const listed = action === 'cleanup' ? [] : [...interfaces.map(({ mac }) => mac), ...keep];
    const gone = macs.filter((mac) => links.every((each) => each.mac !== mac));
    const named = [...mayRemove, ...mayRemoveIfGone.filter((mac) => gone.includes(mac))];
    const known = await this.#known(asked);
    return known.filter((mac) => ![...listed, ...named].includes(mac));
  }

  /** MACs in state.json, of NICs that are back under our name, and for a clean-up of the legacy agent's NICs. */
  async #known({ action, interfaces }: JobRequest): Promise<string[]> {
    const { state, kernel, root } = this;
    const site = { ...siteAt(root, this.#bed.box), backend: netplan };
    const observed = await observeHost(site, new Set(macs), state);
    const back = (state.left ?? []).filter(isNamedLike(kernel));
    const inherited = interfaces.filter(
      (each) => action === 'cleanup' && recordOf(each.mac, each, state, observed) !== undefined,
    );
    const known = new Set([...state.nics, ...back, ...inherited].map(({ mac }) => mac));
    return macs.filter((mac) => known.has(mac));
  }

  /** Kernel, disk and record of one NIC. */
  picture(mac: string) {
    const { links, addresses, routes, rules } = this.kernel;
    const { nics, left = [] } = this.state;
    const own = links.filter((each) => each.mac === mac);
    const names = new Set(own.map(({ name }) => name));
    const records = [...nics, ...left].filter((nic) => nic.mac === mac);
    // A detached NIC may have another index by now, and another NIC its former table.
    const inherited = { mac: macOf(legacy), index: legacy - 1 };
    const owners = [...nics, ...[...left, inherited].filter(isNamedLike(this.kernel))];
    const tables = owners.flatMap((nic) => (nic.mac === mac ? [routingTable(nic.index)] : []));
    const netplanFiles = join(this.root, 'etc/netplan');
    const texts = readdirSync(netplanFiles)
      .filter((name) => name.endsWith('.yaml'))
      .map((name) => [name, readFileSync(join(netplanFiles, name), 'utf8')] as const);
    return JSON.stringify([
      own,
      addresses.filter((each) => names.has(each.link)),
      routes.filter((each) => each.links.some((name) => names.has(name))),
      rules.filter(({ table = 0 }) => tables.includes(table)),
      [...names].map((name) => readSettings(join(this.root, 'proc/sys/net'), name)),
      texts.filter(([, text]) => text.includes(mac)),
      records,
    ]);
  }

  boot(): void {
    this.#bed.anotherBoot();
  }

  unplug(mac: string): void {
    this.#bed.box.update(({ links, addresses, routes, settings }) => {
      const names = new Set(links.flatMap((each) => (each.mac === mac ? [each.name] : [])));
      return {
        links: links.filter(({ name }) => !names.has(name)),
        addresses: addresses.filter((each) => !names.has(each.link)),
        routes: routes.filter((each) => !each.links.some((name) => names.has(name))),
        settings: new Map([...settings].filter(([name]) => !names.has(name))),
      };
    });
  }

  /** Plugs a NIC; the network manager configures a NIC that it still remembers. */
  plug(n: number): void {
    const mac = macOf(n);
    if (this.kernel.links.some((each) => each.mac === mac)) return;
    const known = (this.state.left ?? []).find((nic) => nic.mac === mac);
    const name = interfaceName(known?.index ?? 0);
    if (!known || this.kernel.links.some((each) => each.name === name)) this.#add(link(n));
    else {
      this.#add(link(n, { name, up: true }));
      this.#configure(name, known);
    }
  }

  #configure(name: string, { index, addresses }: { index: number; addresses: string[] }): void {
    const table = routingTable(index);
    this.#bed.box.update((kernel) => ({
      addresses: [...kernel.addresses, ...addresses.map((cidr) => address(name, cidr))],
      rules: [
        ...kernel.rules.filter((each) => each.table !== table),
        ...addresses.map((cidr) => rule(`${ipOf(cidr)}/32`, table, rulePriority(index))),
      ],
    }));
  }

  twin(n: number): void {
    const name = `twin${n}`;
    if (this.kernel.links.every((each) => each.name !== name)) {
      this.#add(link(n, { name, index: 40 + n }));
    }
  }

  #add(added: Link): void {
    this.#bed.box.update(({ links, settings }) => ({
      links: [...links, added],
      settings: new Map([...settings, [added.name, freshSettings]]),
    }));
  }

  [Symbol.dispose](): void {
    this.#bed[Symbol.dispose]();
  }
}

/** Runs the agent, and compares every NIC that must stay; returns a word per case that occurred. */
async function checkedRun(life: Life, ask: Ask): Promise<string[]> {
  const { refusedLine, interfaces = [], ...more } = ask;
  const wanted = request(interfaces, more);
  const isNaming = wanted.protocol >= 4;
  const staying = isNaming ? await life.staying(wanted) : [];
  const pictures = new Map(macs.map((mac) => [mac, life.picture(mac)]));
  const recorded = new Set(life.state.nics.map(({ mac }) => mac));
  const result = await life.run(wanted, refusedLine);
  expectReport(result, staying);
  const waiting = result.nics.filter(
    ({ mac, state }) => state === 'Held' && !staying.includes(mac),
  );
  const entries = isNaming ? interfaces.map(({ mac }) => mac) : [];
  expect(waiting.filter(({ mac }) => !entries.includes(mac))).toEqual([]);
  const untouched = [...staying, ...waiting.map(({ mac }) => mac)];
  for (const mac of wanted.action === 'check' ? macs : untouched) {
    expect(life.picture(mac)).toBe(pictures.get(mac));
  }
  const added = life.state.nics.filter(({ mac }) => !recorded.has(mac));
  const indexes = result.nics.flatMap(({ mac, index }) => (staying.includes(mac) ? [index] : []));
  expect(added.filter(({ index }) => indexes.includes(index))).toEqual([]);
  return [
    ...staying.map((mac) => (recorded.has(mac) ? `${wanted.action} holds` : 'holds unrecorded')),
    ...waiting.map(({ message }) => `waits for ${message.split(' ')[0]}`),
    ...result.nics.map(({ state }) => state),
  ];
}

function expectReport({ nics, known, outcome }: JobResult, staying: readonly string[]): void {
  const unlisted = nics.filter(({ mac }) => staying.includes(mac));
  expect(unlisted.map(({ mac }) => mac).toSorted()).toEqual([...staying].toSorted());
  for (const nic of unlisted) {
    expect(nic).toMatchObject({ state: 'Held', reason: 'RemovalHeld' });
    expect(known?.filter(({ mac }) => mac === nic.mac)).toHaveLength(1);
  }
  const isOpen = nics.some(({ state }) => state === 'Failed' || state === 'Pending');
  expect(outcome === 'ok').toBe(!isOpen);
}

async function act(life: Life, deed: Act): Promise<string[]> {
  if (deed.kind === 'run') return checkedRun(life, deed);
  if (deed.kind === 'boot') life.boot();
  else if (deed.kind === 'unplug') life.unplug(macOf(deed.n));
  else life[deed.kind](deed.n);
  return [];
}

test(
  'a NIC without entry and permission stays bit-identical and is reported Held',
  async () => {
    const cases = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.array(someAct, { minLength: 6, maxLength: 14 }), async (deeds) => {
        using life = new Life(await open());
        const interfaces = [1, 2, 3].map((n) => entryOf(n));
        await act(life, { kind: 'run', refusedLine: undefined, interfaces });
        for (const deed of deeds) for (const word of await act(life, deed)) cases.add(word);
      }),
      { numRuns: 50 },
    );
    const common = ['apply holds', 'cleanup holds', 'check holds', 'Removed', 'Configured'];
    expect([...cases]).toEqual(expect.arrayContaining(common));
  },
  scaled(120_000),
);
