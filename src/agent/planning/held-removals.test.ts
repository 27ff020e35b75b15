import { describe, expect, test } from 'vitest';
import {
  address,
  entry,
  host,
  input,
  link,
  macOf,
  ownFile,
  request,
  rule,
} from '../../../test/fixtures/agent-samples.ts';
import type { JobRequest, RequestInterface } from '../../api/job.ts';
import { shorten } from '../shorten.ts';
import type { ConfigFile, Snapshot } from '../snapshot.ts';
import { type AgentState, emptyState, type NicRecord } from '../state.ts';
import type { PlanInput } from './candidates.ts';
import { planAll, planApply } from './plan.ts';
import { unaffectedNics } from './remembered.ts';
import { planText, removalHolds } from './unit.ts';

function record(n: number, more: Partial<NicRecord> = {}): NicRecord {
  return {
    mac: macOf(n),
    index: n - 1,
    originalName: `ens${n}`,
    addresses: [`10.0.0.${n}/24`],
    table: 99 + n,
    priority: 10_099 + n,
    files: [{ path: `/etc/netplan/9${n - 1}-multinic${n - 1}.yaml`, sha256: '' }],
    ...more,
  };
}

const [one, two] = [link(1, { name: 'multinic0' }), link(2, { name: 'multinic1' })];
const twin = link(2, { name: 'ens9', index: 39 });
const both = { ...emptyState, nics: [record(1), record(2)] };
/** A NIC detached since boot that is back under our name, with a rule. */
const left = { mac: macOf(3), index: 2, bootId: 'boot-1', addresses: ['10.0.0.3/24'] };
const three = link(3, { name: 'multinic2' });
const reattached = { ...both, left: [left] };
const legacy = { files: [ownFile(3, macOf(4), ['10.0.0.4/24'])] };
const four = link(4, { name: 'multinic3' });

const notNamed = 'not requested, and not named for removal';
const stillThere = (links: string) =>
  `${links} still there; removal is permitted only once no link has this MAC`;

const inUse = (subject: string, n = 2) =>
  `${subject} is in use by NIC ${macOf(n)}, whose removal is held`;

interface HostState {
  readonly links?: Snapshot['links'];
  readonly on?: Partial<Snapshot>;
  readonly state?: AgentState;
  readonly more?: Partial<PlanInput>;
}

/** Plans a request of protocol 4 for NIC 1 on a host with NICs 1 and 2. */
function planned(
  asked: Partial<JobRequest>,
  { links = [one, two], on = {}, state = both, more = {} }: HostState = {},
) {
  const wanted = request([entry(1)], { protocol: 4, ...asked });
  return planAll({ ...input(wanted, host(links, on), state), ...more });
}

describe('removal without permission by the request', () => {
  const named = [macOf(2)];
  const cleanup: Partial<JobRequest> = { action: 'cleanup', interfaces: [] };
  test.each<[string, Partial<JobRequest>, HostState, number[], [number, string, string][]]>([
    ['stays without a list', {}, {}, [], [[2, 'multinic1', notNamed]]],
    [
      'stays with empty lists',
      { mayRemove: [], mayRemoveIfGone: [] },
      {},
      [],
      [[2, 'multinic1', notNamed]],
    ],
    [
      'stays if another NIC is named',
      { mayRemove: [macOf(1)] },
      {},
      [],
      [[2, 'multinic1', notNamed]],
    ],
    ['leaves if named', { mayRemove: named }, {}, [2], []],
    ['stays in a check', { action: 'check' }, {}, [], [[2, 'multinic1', notNamed]]],
    ['stays with an absent link', {}, { links: [one] }, [], [[2, '', notNamed]]],
    ['leaves if named for a missing link', { mayRemoveIfGone: named }, { links: [one] }, [2], []],
    [
      'stays if named for a missing link that is present',
      { mayRemoveIfGone: named },
      {},
      [],
      [[2, 'multinic1', stillThere('link multinic1 is')]],
    ],
    [
      'stays if named for a missing link, with twins present',
      { mayRemoveIfGone: named },
      { links: [one, two, twin] },
      [],
      [[2, '', stillThere('links multinic1 and ens9 are')]],
    ],
    ['leaves in either list', { mayRemove: named, mayRemoveIfGone: named }, {}, [2], []],
    ['is neither released nor held when listed in keep', { keep: named }, {}, [], []],
    ['stays in keep although named', { keep: named, mayRemove: named }, {}, [], []],
    ['stays as a requested NIC although named', { mayRemove: [macOf(1), macOf(2)] }, {}, [2], []],
    [
      'stays when reattached',
      { mayRemove: named },
      { links: [one, two, three], state: reattached },
      [2],
      [[3, 'multinic2', notNamed]],
    ],
    [
      'leaves when reattached and named',
      { mayRemove: [macOf(3)] },
      { links: [one, two, three], state: reattached },
      [3],
      [[2, 'multinic1', notNamed]],
    ],
    [
      'stays in a clean-up',
      cleanup,
      {},
      [],
      [
        [1, 'multinic0', notNamed],
        [2, 'multinic1', notNamed],
      ],
    ],
    [
      'leaves a clean-up only if named',
      { ...cleanup, mayRemove: named, mayRemoveIfGone: [macOf(1)] },
      {},
      [2],
      [[1, 'multinic0', stillThere('link multinic0 is')]],
    ],
    [
      'stays in a clean-up as a NIC of the legacy agent',
      { ...cleanup, interfaces: [entry(4)], mayRemove: [macOf(1), macOf(2)] },
      { links: [one, two, four], on: legacy },
      [1, 2],
      [[4, 'multinic3', notNamed]],
    ],
    ['leaves with protocol 3', { protocol: 3, mayRemove: [] }, {}, [2], []],
    ['leaves a clean-up with protocol 3', { ...cleanup, protocol: 3 }, {}, [1, 2], []],
  ])('a NIC %s', (_, asked, scene, released, held) => {
    const { removal } = planned(asked, scene);
    expect(removal.units.map(({ target }) => target.mac)).toEqual(released.map(macOf));
    expect(removal.refused).toMatchObject(
      held.map(([n, name, message]) => ({
        target: { mac: macOf(n) },
        name,
        refusal: { reason: 'RemovalHeld', message },
      })),
    );
  });

  test('a NIC with an unfinished change reports the failure instead of the hold', () => {
    const failure = { reason: 'RollbackFailed', message: 'x' } as const;
    const { removal, apply } = planned(
      { interfaces: [entry(3, { index: 1 })] },
      { more: { inHand: new Map([[macOf(2), failure]]) }, links: [one, two, link(3)] },
    );
    expect(removal.refused.map(({ refusal }) => refusal.reason)).toEqual([
      'RemovalHeld',
      'RollbackFailed',
    ]);
    expect(apply.refused).toMatchObject([{ refusal: { reason: 'RemovalHeld' } }]);
  });

  test('a detached NIC loses rules, except rules shared with a held NIC', () => {
    const shared = { ...left, mac: macOf(5) };
    const rules = [rule('10.0.0.3/32', 102, 10_102), rule('10.0.0.6/32', 105, 10_105)];
    const gone = { ...left, mac: macOf(6), index: 5, addresses: ['10.0.0.6/24'] };
    const state = { ...emptyState, left: [left, shared, gone] };
    const scene = { links: [one, three], on: { rules }, state };
    const { removal } = planned({ interfaces: [] }, scene);
    expect(removal.units.map(({ target, before }) => [target.mac, before.rules.length])).toEqual([
      [macOf(6), 1],
    ]);
    expect(removal.refused).toMatchObject([{ target: { mac: macOf(3) } }]);
  });

  test('a held NIC of the legacy agent keeps rules although state.json remembers a detached NIC', () => {
    const detached = { ...left, mac: macOf(4), index: 3, addresses: ['10.0.0.4/24'] };
    const rules = [rule('10.0.0.4/32', 103, 10_103)];
    const scene = {
      links: [link(4)],
      on: { ...legacy, rules },
      state: { ...emptyState, left: [detached] },
    };
    const { removal } = planned({ ...cleanup, interfaces: [entry(4)] }, scene);
    expect(removal.units).toEqual([]);
    expect(removal.refused).toMatchObject([{ refusal: { reason: 'RemovalHeld' } }]);
    const on = host(scene.links, scene.on);
    const blocked = [record(4)];
    expect(unaffectedNics([], scene.state, on, { blocked }).map(({ want }) => want)).toMatchObject([
      { rules: [{ table: 103 }] },
    ]);
    expect(unaffectedNics([], scene.state, on).map(({ want }) => want)).toEqual([{ rules: [] }]);
  });

  test('plan text and log name a held NIC and a waiting entry', () => {
    const plan = planned({ interfaces: [entry(3, { index: 1 })] }, { links: [one, two, link(3)] });
    expect(planText(plan.removal)).toContain(`multinic1 ${macOf(2)}: RemovalHeld, ${notNamed}\n`);
    expect(removalHolds([plan.removal, plan.apply])).toEqual([
      `${macOf(1)} (multinic0): ${notNamed}`,
      `${macOf(2)} (multinic1): ${notNamed}`,
      `${macOf(3)} (ens3): index 1 is in use by NIC ${macOf(2)}, whose removal is held`,
    ]);
  });
});

describe('entry in conflict with a held NIC', () => {
  const free = { addresses: ['10.0.0.9/24'] };
  const oddFile: ConfigFile = { ...ownFile(4, macOf(2), []), text: 'odd' };
  const links = [one, two, link(3)];
  test.each<[string, RequestInterface[], HostState, (string | number)[]]>([
    ['waits for the index', [entry(3, { ...free, index: 1 })], {}, [inUse('index 1')]],
    [
      'waits for the index of an absent NIC',
      [entry(3, { ...free, index: 1 })],
      { links: [one, link(3)] },
      [inUse('index 1')],
    ],
    [
      'waits for the name of the link',
      [entry(3, { ...free, index: 7 })],
      { links: [one, link(2, { name: 'multinic7' }), link(3)] },
      [inUse('name multinic7')],
    ],
    [
      'waits for a name of twins',
      [entry(3, { ...free, index: 7 })],
      { links: [one, two, { ...twin, altNames: ['multinic7'] }, link(3)] },
      [inUse('name multinic7')],
    ],
    [
      'waits for a recorded address',
      [entry(3, { index: 5, addresses: ['10.0.0.9/24', '10.0.0.2/16'] })],
      {},
      [inUse('address 10.0.0.2')],
    ],
    [
      'waits for an address on the link',
      [entry(3, { index: 5, addresses: ['10.1.0.7/24'], gateway: '10.1.0.254' })],
      { on: { addresses: [address('multinic1', '10.1.0.7/24')] } },
      [inUse('address 10.1.0.7')],
    ],
    [
      'waits for the path of a file',
      [entry(3, { ...free, index: 4 })],
      { on: { files: [oddFile] } },
      [inUse('/etc/netplan/94-multinic4.yaml')],
    ],
    [
      'waits for the index of a reattached NIC',
      [entry(5, { index: 2 })],
      { links: [one, two, three, link(5)], state: reattached },
      [inUse('index 2', 3)],
    ],
    ['waits before its link is there', [entry(9, { ...free, index: 1 })], {}, [inUse('index 1')]],
    ['has its own record and keeps the index', [entry(1, { index: 1 })], {}, [0]],
    [
      'has its own record and waits for an address',
      [entry(1, { addresses: ['10.0.0.2/24'] })],
      {},
      [inUse('address 10.0.0.2')],
    ],
    [
      'has its own record and the name of a held NIC',
      [entry(1)],
      { links: [link(1), link(2, { name: 'multinic0' })] },
      [inUse('name multinic0')],
    ],
    [
      'requests the index of a requested NIC and gets the lowest free index',
      [entry(1, { index: 5 }), entry(3, { ...free, index: 0 })],
      {},
      [0, 2],
    ],
    [
      'never gets the index or name of a held NIC instead',
      [entry(1, { index: 7 }), entry(2, { index: 8 }), entry(5, { index: 0 })],
      { links: [one, two, { ...three, altNames: ['multinic3'] }, link(5)], state: reattached },
      [0, 1, 4],
    ],
    [
      'waits for an address and leaves the indexes of recorded NICs alone',
      [entry(1, { index: 5 }), entry(3, { index: 0, addresses: ['10.0.0.2/24'] })],
      {},
      [0, inUse('address 10.0.0.2')],
    ],
  ])('an entry %s', (_, interfaces, scene, expected) => {
    const { apply } = planned({ interfaces }, { links, ...scene });
    const found = interfaces.map(({ mac }) => {
      const refused = apply.refused.find(({ target }) => target.mac === mac);
      const unit = apply.units.find(({ target }) => target.mac === mac);
      return refused ? `${refused.refusal.reason}: ${refused.refusal.message}` : unit?.index;
    });
    expect(found).toEqual(
      expected.map((each) => (typeof each === 'string' ? `RemovalHeld: ${each}` : each)),
    );
    for (const { refusal } of apply.refused) {
      expect(shorten(refusal.message, 120)).toBe(refusal.message);
    }
  });

  test('an entry may share the subnet with a held NIC missing in state.json', () => {
    const on = { addresses: [address('multinic2', '10.0.0.3/24')] };
    const wanted = request([entry(1)], { protocol: 4 });
    const nics = [one, link(3, { name: 'multinic2', up: true })];
    const state = { ...emptyState, nics: [record(1)], left: [left] };
    const { units, refused } = planApply(input(wanted, host(nics, on), state));
    expect([units.length, refused]).toEqual([1, []]);
  });

  test('an entry gets the lowest free index with protocol 3', () => {
    const wanted = request([entry(3, { ...free, index: 1 })], { protocol: 3 });
    const state = { ...emptyState, nics: [record(2)] };
    const { units } = planApply(input(wanted, host([two, link(3)]), state));
    expect(units.map(({ index }) => index)).toEqual([0]);
  });
});
