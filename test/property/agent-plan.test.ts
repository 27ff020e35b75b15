import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { linkOf } from '../../src/agent/identity.ts';
import { linkLocalOf } from '../../src/agent/planning/desired.ts';
import { diffNic } from '../../src/agent/planning/diff.ts';
import { type NicState, presentState, sameNic } from '../../src/agent/planning/nic-state.ts';
import { routeKey } from '../../src/agent/planning/ownership.ts';
import { planApply } from '../../src/agent/planning/plan.ts';
import { planRemoval } from '../../src/agent/planning/plan-removal.ts';
import { inOrder, isDone, stateAfter, type Unit } from '../../src/agent/planning/unit.ts';
import type { Snapshot } from '../../src/agent/snapshot.ts';
import { type AgentState, emptyState } from '../../src/agent/state.ts';
import { familyOf } from '../../src/api/address.ts';
import type { RequestInterface } from '../../src/api/job.ts';
import {
  address,
  entry,
  freshSettings,
  host,
  input,
  link,
  macOf,
  route,
  rule,
} from '../fixtures/agent-samples.ts';
import { applied, type ModelOptions, perform } from './kernel-model.ts';

const numbers = [1, 2, 3, 4, 5] as const;
const numRuns = 300;

/** What others have on a host; none of it may ever change. */
const foreign = host(
  [
    link(9, { name: 'multinic9', up: true, mac: '02:00:00:00:09:09' }),
    link(8, { name: 'bond0', kind: 'bond', mac: macOf(20) }),
    link(20, { name: 'ens20', master: 'bond0' }),
  ],
  {
    addresses: [address('multinic9', '10.99.0.9/24'), address('bond0', '10.98.0.1/24')],
    routes: [
      route('10.245.0.0/24', 'eth0', { table: 200, via: '10.200.0.254' }),
      route('10.246.0.0/24', undefined, { type: 6 }),
      route('0.0.0.0/0', 'multinic9', { table: 109, via: '10.99.0.1' }),
    ],
    rules: [rule('10.244.0.0/16', 200, 111, { protocol: 0 }), rule('10.99.0.9/32', 109, 10_050)],
    files: [{ path: '/etc/netplan/60-storage.yaml', text: 'theirs', mode: 0o644, macs: [] }],
  },
);

const freshNic = (n: number) =>
  fc
    .record({ plugged: fc.boolean(), up: fc.boolean(), mode: fc.constantFrom('eui64', 'none') })
    .map(({ plugged, up, mode }) => {
      const nic = link(n, { up, addressMode: mode });
      const own =
        up && mode === 'eui64' ? [address(nic.name, linkLocalOf(nic.mac), { scope: 253 })] : [];
      return plugged ? [{ nic, own }] : [];
    });

/** A host with some of five NICs plugged, in any idle state, beside what others have. */
const someHost = fc.tuple(...numbers.map(freshNic)).map((nics): Snapshot => {
  const plugged = nics.flat();
  return {
    ...foreign,
    links: [...foreign.links, ...plugged.map(({ nic }) => nic)],
    addresses: [...foreign.addresses, ...plugged.flatMap(({ own }) => own)],
    settings: new Map(plugged.map(({ nic }) => [nic.name, freshSettings])),
  };
});

const someEntry = (n: number, index: number) =>
  fc
    .record({
      addresses: fc.subarray(
        [
          `10.0.0.${n}/24`,
          `10.0.0.${n + 50}/24`,
          `10.0.0.${n + 90}/24`,
          `10.1.0.${n}/24`,
          `fd00::${n}/64`,
          `fd00::${n + 50}/64`,
          `fd00:1::${n}/128`,
        ],
        {
          minLength: 1,
        },
      ),
      shuffled: fc.boolean(),
      routing: fc.constantFrom('pbr', 'pbr', 'main', 'isolated'),
      mtu: fc.constantFrom(1200, 1400, 9000, undefined),
      routes: fc.subarray([
        { to: '10.50.0.0/16' },
        { to: 'fd50::/32' },
        { to: `fd5${n}::/32`, metric: 0 },
        { to: '10.51.0.7/16', metric: 10 + n },
        { to: `10.${52 + n}.0.0/16`, metric: 0 },
      ]),
    })
    .map(({ addresses, shuffled, mtu, routes, routing }): RequestInterface => {
      const {
        mtu: _,
        gateway,
        ...plain
      } = entry(n, {
        index,
        routing,
        addresses: shuffled ? addresses.toReversed() : addresses,
        routes: routes.filter(({ to }) =>
          addresses.some((cidr) => familyOf(cidr) === familyOf(to)),
        ),
      });
      const reachable = addresses.some((cidr) => cidr.startsWith('10.0.0.'));
      const gateway6 = addresses.some((cidr) => cidr.startsWith('fd00::')) && {
        gateway6: 'fd00::fe',
      };
      return {
        ...plain,
        ...(mtu ? { mtu } : {}),
        ...(reachable && gateway ? { gateway } : {}),
        ...gateway6,
      };
    });

/** A request for some of the NICs, numbered in any way. */
const someRequest = fc
  .tuple(
    fc.subarray([...numbers]),
    fc.shuffledSubarray([0, 1, 2, 3, 4, 5, 6, 7, 8], { minLength: 5, maxLength: 5 }),
  )
  .chain(([wanted, indexes]) => fc.tuple(...wanted.map((n, i) => someEntry(n, indexes[i] ?? n))));

interface HostAndState {
  readonly host: Snapshot;
  readonly state: AgentState;
}

/** What the agent does about what it sees to differ: one change may make the next one possible. */
function brought(on: Snapshot, { nic }: Unit, goal: NicState, options: ModelOptions): Snapshot {
  const seen = (now: Snapshot) => presentState(now, linkOf(now, nic.mac), nic.belongings);
  const want = seen(on).link ? goal : { rules: goal.rules };
  const once = applied(on, diffNic(seen(on), want), options);
  return applied(once, diffNic(seen(once), want), options);
}

function settled(
  { host: before, state }: HostAndState,
  units: readonly Unit[],
  options: ModelOptions,
): HostAndState {
  const evictions = units.flatMap(({ change }) => change.eviction ?? []);
  const sysctls = units.flatMap(({ change }) => change.sysctls);
  const operations = [...evictions, ...units.flatMap(({ change }) => change.operations)];
  const changed = applied(before, { sysctls, operations }, options);
  const after = units.reduce((now, unit) => brought(now, unit, unit.after, options), changed);
  const files = units.flatMap((unit) => inOrder(unit.files));
  const gone = new Set(files.map(({ path }) => path));
  const written = units.flatMap(({ nic, index, record, files: changes }) =>
    inOrder(changes).flatMap((file) => {
      if (!record || file.after === null) return [];
      const own = { ...nic, index, addresses: record.addresses };
      return [{ ...file, text: file.after, own, macs: [nic.mac] }];
    }),
  );
  const kept = after.files.filter(({ path }) => !gone.has(path));
  return {
    host: { ...after, files: [...kept, ...written] },
    state: units.reduce(stateAfter, state),
  };
}

/** A run of the agent: removals first, then the rest. */
function run(scene: HostAndState, wanted: readonly RequestInterface[], options: ModelOptions) {
  const removal = planRemoval(input(wanted, scene.host, scene.state));
  const between = settled(scene, removal.units, options);
  const apply = planApply(input(wanted, between.host, between.state));
  return { removal, apply, between, after: settled(between, apply.units, options) };
}

const someStory = fc.record({
  start: someHost,
  requests: fc.array(someRequest, { minLength: 1, maxLength: 4 }),
  promote: fc.boolean(),
  slotNames: fc.boolean(),
});

type Story = ModelOptions & {
  readonly start: Snapshot;
  readonly requests: readonly RequestInterface[][];
};

function tell(
  { start, requests, ...options }: Story,
  look: (ran: ReturnType<typeof run>, before: HostAndState, wanted: RequestInterface[]) => void,
): void {
  let scene: HostAndState = { host: start, state: emptyState };
  for (const wanted of requests) {
    const ran = run(scene, wanted, options);
    look(ran, scene, wanted);
    scene = ran.after;
  }
}

function nameOf({ links }: Snapshot, mac: string): string | undefined {
  return links.find((each) => each.mac === mac)?.name;
}

describe('plan of the agent', () => {
  test('applied once, the kernel has what was asked; applied twice, there is nothing to do', () => {
    fc.assert(
      fc.property(someStory, (story) => {
        tell(story, ({ removal, apply, after }, _, wanted) => {
          for (const { nic, after: goal } of [...removal.units, ...apply.units]) {
            const now = presentState(after.host, linkOf(after.host, nic.mac), nic.belongings);
            expect(sameNic(now, goal), JSON.stringify([now, goal])).toBe(true);
          }
          const again = run(after, wanted, story);
          expect(again.removal.units).toEqual([]);
          expect(again.apply.units.filter((unit) => !isDone(unit))).toEqual([]);
          expect(again.after.state).toEqual(after.state);
        });
      }),
      { numRuns },
    );
  });

  test('[RW-27] a NIC that is configured and still wanted keeps its name, however it is numbered', () => {
    fc.assert(
      fc.property(someStory, (story) => {
        tell(story, ({ after, apply }, before, wanted) => {
          const kept = before.state.nics.filter(({ mac }) =>
            wanted.some((each) => each.mac === mac),
          );
          for (const { mac } of kept) {
            expect(nameOf(after.host, mac)).toBe(nameOf(before.host, mac));
          }
          const renames = apply.units.flatMap(({ change, nic }) =>
            change.operations.filter(({ kind }) => kind === 'link.rename').map(() => nic.mac),
          );
          expect(renames.filter((mac) => kept.some((each) => each.mac === mac))).toEqual([]);
        });
      }),
      { numRuns },
    );
  });

  test('[RW-23] a name is given away only once at a time, and only ten exist', () => {
    fc.assert(
      fc.property(someStory, (story) => {
        tell(story, ({ after }) => {
          const indexes = after.state.nics.map(({ index }) => index);
          expect(new Set(indexes).size).toBe(indexes.length);
          const names = after.host.links.map(({ name }) => name);
          expect(new Set(names).size).toBe(names.length);
        });
      }),
      { numRuns },
    );
  });

  test('nothing of what others have is in an operation or changes', () => {
    const theirs = new Set(foreign.links.map(({ name }) => name));
    const theirPaths = new Set(foreign.files.map(({ path }) => path));
    fc.assert(
      fc.property(someStory, (story) => {
        tell(story, ({ removal, apply, after }) => {
          for (const { change, files } of [...removal.units, ...apply.units]) {
            const touched = [...change.sysctls, ...change.operations].flatMap((operation) =>
              'dev' in operation ? [operation.dev] : [],
            );
            expect(touched.filter((name) => theirs.has(name))).toEqual([]);
            expect(inOrder(files).filter(({ path }) => theirPaths.has(path))).toEqual([]);
          }
          const kept = after.host;
          expect(kept.links).toEqual(expect.arrayContaining([...foreign.links]));
          expect(kept.addresses).toEqual(expect.arrayContaining([...foreign.addresses]));
          expect(kept.routes).toEqual(expect.arrayContaining([...foreign.routes]));
          expect(kept.rules).toEqual(expect.arrayContaining([...foreign.rules]));
          expect(kept.files).toEqual(expect.arrayContaining([...foreign.files]));
        });
      }),
      { numRuns },
    );
  });

  test('only what state.json owns is removed, and nothing of it is left', () => {
    fc.assert(
      fc.property(someStory, (story) => {
        tell(story, ({ removal, between }, before, wanted) => {
          const owned = before.state.nics.filter(({ mac }) =>
            wanted.every((each) => each.mac !== mac),
          );
          expect(removal.units.map(({ nic }) => nic.mac).toSorted()).toEqual(
            owned.map(({ mac }) => mac).toSorted(),
          );
          for (const { mac, table, routes = [], originalName, original } of owned) {
            const now = linkOf(between.host, mac);
            expect(between.host.routes.filter((each) => each.table === table)).toEqual([]);
            const keys = routes.map(routeKey);
            expect(between.host.routes.filter((each) => keys.includes(routeKey(each)))).toEqual([]);
            expect(between.host.rules.filter((each) => each.table === table)).toEqual([]);
            expect(between.host.files.filter(({ macs }) => macs.includes(mac))).toEqual([]);
            if (!now) continue;
            const { mtu, up, addrGenMode: addressMode } = original ?? {};
            expect(now).toMatchObject({ name: originalName, mtu, up, addressMode });
            expect(between.host.settings.get(originalName)).toMatchObject(original?.settings ?? {});
          }
        });
      }),
      { numRuns },
    );
  });

  test('stopped after any operation, a NIC can be brought back and brought on', () => {
    fc.assert(
      fc.property(someStory, fc.nat(), (story, at) => {
        const options = story;
        tell(story, ({ removal, apply, between }, before) => {
          for (const [scene, units] of [
            [before, removal.units],
            [between, apply.units],
          ] as const) {
            for (const unit of units.filter((each) => !each.change.eviction)) {
              const { change, nic } = unit;
              const done = change.operations.slice(0, at % (change.operations.length + 1));
              const stopped = done.reduce(
                (now, operation) => perform(now, operation, options),
                applied(scene.host, { sysctls: change.sysctls, operations: [] }, options),
              );
              const seen = (on: Snapshot) => presentState(on, linkOf(on, nic.mac), nic.belongings);
              for (const goal of [unit.before, unit.after]) {
                const end = brought(stopped, unit, goal, options);
                expect(sameNic(seen(end), goal), JSON.stringify([seen(end), goal])).toBe(true);
              }
            }
          }
        });
      }),
      { numRuns },
    );
  });
});
