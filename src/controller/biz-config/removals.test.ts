import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  BizSources,
  bizNic,
  bizNode,
  conditionsOf,
  system,
} from '../../../test/fixtures/biz-samples.ts';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';
import { findCondition } from '../../api/condition.ts';
import type { BizNode } from '../../api/multinicbizconfig.ts';
import type { ObjectMeta } from '../../api/object-meta.ts';
import { removalConsent } from '../../api/removal-consent.ts';
import { configMaps } from '../../kube/core-resources.ts';
import { nodeConfigs } from '../objects/stores.ts';

let fixture: ControllerFixture;
let sources: BizSources;

beforeEach(async () => {
  fixture = await ControllerFixture.start();
  sources = new BizSources(fixture);
});

afterEach(() => fixture[Symbol.asyncDispose]());

const numbers = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, n) => first + n);

/** Nodes `w-FIRST` to `w-LAST` with two NICs each. */
const list = (first: number, last: number): BizNode[] =>
  numbers(first, last).map((n) => bizNode(n, [1, 2]));

/** Nodes `w-1` to `w-6`; the first up to `w-LAST` have one NIC each. */
const shortened = (last: number): BizNode[] => [
  ...numbers(1, last).map((n) => bizNode(n, [1])),
  ...list(last + 1, 6),
];

/** Creates and configures six nodes. */
async function sixNodes(annotations = {}): Promise<void> {
  for (const n of numbers(1, 6)) await fixture.addNode(`w-${n}`, `i-${n}`);
  await sources.create('all', list(1, 6), { annotations });
  fixture.run();
  await sources.untilCondition('all', 'Ready True AllNodesConfigured');
}

const held = 'RemovalHeld True RemovalHeld';
const allowed = (value: string) => ({ 'multinic.io/allow-removals': value });

function names(): string[] {
  return fixture.api
    .objects('multinicnodeconfigs.multinic.io')
    .map(({ metadata }) => metadata.name)
    .toSorted();
}

/** Returns NIC counts per node, such as `w-1:2 w-2:2`. */
async function nics(): Promise<string> {
  const found = await Promise.all(names().map((name) => fixture.get(name)));
  return found
    .map(({ metadata, spec }) => `${metadata.name}:${spec?.interfaces?.length}`)
    .join(' ');
}

async function untilNics(wanted: string): Promise<void> {
  await fixture.eventually(
    async () => (await nics()) === wanted,
    () => `nodes are ${names().join()}`,
  );
}

/** Waits until this many objects are not being deleted. */
async function untilListed(count: number): Promise<void> {
  const listed = () =>
    fixture.api
      .objects('multinicnodeconfigs.multinic.io')
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  await fixture.eventually(
    () => listed().length === count,
    () => names().join(),
  );
}

/**
 * Records consents that the controller writes, such as `w-1:deleted TIME` or `w-1:edited TIME MAC`. The fixture must
 * not run yet.
 */
function recordConsents(): readonly string[] {
  const consents: string[] = [];
  const note = ({ name, annotations = {} }: Partial<ObjectMeta>): void => {
    const [deletion, removal] = ['delete', 'removal'].map(
      (kind) => annotations[`multinic.io/${kind}-consent`],
    );
    if (deletion) consents.push(`${name}:deleted ${deletion}`);
    if (!removal) return;
    const { at, proven, consented } = removalConsent.parse(JSON.parse(removal));
    expect(proven).toEqual([]);
    consents.push(`${name}:edited ${at} ${consented.join()}`);
  };
  fixture.through = (client) => ({
    ...client,
    apply: async (resource, object, options) => {
      note(object.metadata);
      return client.apply(resource, object, options);
    },
    patch: async (resource, ref, patch, options) => {
      note({ ...(patch as { metadata?: Partial<ObjectMeta> }).metadata, name: ref.name });
      return client.patch(resource, ref, patch, options);
    },
  });
  return consents;
}

describe('removals by a MultiNicBizConfig', () => {
  it('[H10] three small edits within 20 s carry no consent', async () => {
    const consents = recordConsents();
    for (const n of numbers(1, 10)) await fixture.addNode(`w-${n}`, `i-${n}`);
    await sources.create('all', list(1, 10));
    fixture.run();
    await sources.untilCondition('all', 'Ready True AllNodesConfigured');
    const started = fixture.clock.now().getTime();
    await sources.edit('all', list(1, 7));
    await untilListed(7);
    await sources.edit('all', list(1, 4));
    await sources.untilCondition('all', held);
    await sources.edit('all', [bizNode(1, [1])]);
    await sources.untilCondition('all', held);
    expect(fixture.clock.now().getTime() - started).toBeLessThan(20_000);
    await fixture.pass(100);
    expect(consents).toEqual([]);
    expect(names()).toHaveLength(7);
    expect(numbers(1, 10).filter((n) => fixture.agents.macsOn(`w-${n}`).length === 2)).toHaveLength(
      7,
    );
  });

  it('removing NICs from three nodes is applied without a hold', async () => {
    await sixNodes();
    await sources.edit('all', [...numbers(1, 3).map((n) => bizNode(n, [1])), ...list(4, 6)]);
    for (const n of numbers(1, 3)) {
      await fixture.until(`w-${n}`, ({ status }) => status?.interfaceStatuses?.length === 1);
      await fixture.untilReady(`w-${n}`, 'True AllInterfacesConfigured');
    }
    expect(fixture.events()).not.toContain('RemovalHeld');
  });

  it.each<[string, BizNode[] | null, string]>([
    ['by an empty list', [], 'nodeConfigs is empty or absent'],
    ['by an absent list', null, 'nodeConfigs is empty or absent'],
  ])('removals %s are held until a new annotation value', async (_what, nodes, why) => {
    await sixNodes();
    const before = await nics();
    await sources.edit('all', nodes);
    const source = await sources.untilCondition('all', held);
    const { message = '' } = findCondition(source.status?.conditions, 'RemovalHeld') ?? {};
    expect(message).toContain(why);
    expect(message).toContain('multinic.io/allow-removals');
    expect(conditionsOf(source)).toEqual(
      expect.arrayContaining(['Applied False RemovalHeld', 'Stalled True RemovalHeld']),
    );
    await fixture.pass(100);
    expect(await nics()).toBe(before);
    await sources.annotate('all', allowed('2026-11-26T10:00:00Z'));
    await sources.until('all', (now) => !conditionsOf(now).includes(held));
    const left = nodes ?? [];
    const wanted = left.map(
      ({ attachedNodeName, interfaces }) => `${attachedNodeName}:${interfaces?.length}`,
    );
    await untilNics(wanted.join(' '));
    await sources.untilCondition('all', 'Ready True AllNodesConfigured');
    expect(fixture.events().filter((reason) => reason === 'RemovalHeld')).toHaveLength(1);
  });

  it.each<[string, BizNode[] | undefined, string]>([
    ['deletions by a user', undefined, 'w-1:deleted w-2:deleted w-3:deleted w-4:deleted'],
    ['deletions', list(5, 6), 'w-1:deleted w-2:deleted w-3:deleted w-4:deleted'],
    [
      'edits',
      [...numbers(1, 4).map((n) => bizNode(n, [2])), ...list(5, 6)],
      'w-1:edited w-2:edited w-3:edited w-4:edited',
    ],
  ])('a new annotation value releases %s above the budget', async (_what, nodes, wanted) => {
    const consents = recordConsents();
    await sixNodes();
    if (nodes) await sources.edit('all', nodes);
    else for (const n of numbers(1, 4)) await fixture.delete(`w-${n}`);
    const names4 =
      /(4 of 6 nodes would lose NICs|holds removals on 4 nodes).*\(w-1, w-2, w-3, w-4\).*allow-removals/;
    await sources.until('all', ({ status }) => {
      const { message = '' } = findCondition(status?.conditions, 'RemovalHeld') ?? {};
      return names4.test(message);
    });
    expect(consents).toEqual([]);
    await sources.annotate('all', allowed('2026-11-26T10:00:00Z'));
    await fixture.eventually(
      () => consents.length === 4,
      () => consents.join(),
    );
    const { status } = await sources.until('all', (now) => !conditionsOf(now).includes(held));
    const acts = consents.map((consent) => consent.replace(/ .*/, ''));
    expect(acts.toSorted().join(' ')).toBe(wanted);
    const times = new Set(consents.map((consent) => consent.split(' ')[1]));
    expect([...times]).toEqual([status?.allowedRemovalsAt]);
    await fixture.pass(100);
    expect(consents).toHaveLength(4);
  });

  it('an edit with a new annotation value carries the consent from its first write', async () => {
    const consents = recordConsents();
    await sixNodes();
    const nodes = [bizNode(4, [2]), ...list(5, 6)];
    await sources.edit('all', nodes, { annotations: allowed('2026-11-26T10:00:00Z') });
    await untilNics('w-4:1 w-5:2 w-6:2');
    const { status } = await sources.get('all');
    const at = status?.allowedRemovalsAt;
    expect(consents.toSorted()).toEqual([
      `w-1:deleted ${at}`,
      `w-2:deleted ${at}`,
      `w-3:deleted ${at}`,
      `w-4:edited ${at} 02:00:00:00:04:01`,
    ]);
    expect(fixture.events()).not.toContain('RemovalHeld');
  });

  it('a removal is held while the removals of the last hour are unknown, and no longer', async () => {
    await sixNodes();
    await fixture.stop();
    const ledger = { namespace: system, name: 'multinic-removals' };
    await fixture.admin.create(configMaps, { metadata: ledger, data: { '01': 'x' } });
    fixture.run();
    await sources.edit('all', list(1, 5));
    await sources.untilCondition('all', held);
    const { status } = await sources.get('all');
    expect(findCondition(status?.conditions, 'RemovalHeld')?.message).toMatch(
      /NotCounted: 1 of 6 nodes would lose NICs, and ConfigMap .* cannot be read: data\.01/,
    );
    await fixture.admin.delete(configMaps, ledger);
    await untilListed(5);
  });

  it('a held removal is released when the edit is undone', async () => {
    await sixNodes();
    await sources.edit('all', []);
    await sources.untilCondition('all', held);
    await sources.edit('all', list(1, 6));
    await sources.until('all', (source) => !conditionsOf(source).includes(held));
    expect(names()).toHaveLength(6);
  });

  it('a second removal needs a new annotation value', async () => {
    await sixNodes();
    await sources.edit('all', list(5, 6));
    await sources.untilCondition('all', held);
    await sources.annotate('all', allowed('once'));
    await fixture.eventually(
      () => names().length === 2,
      () => names().join(),
    );
    await sources.edit('all', []);
    await sources.untilCondition('all', held);
    await fixture.pass(100);
    expect(names()).toEqual(['w-5', 'w-6']);
    await sources.annotate('all', allowed('twice'));
    await fixture.eventually(
      () => names().length === 0,
      () => names().join(),
    );
  });

  it('a consent does not cover NICs held later', async () => {
    await sixNodes();
    await sources.edit('all', shortened(6));
    await sources.untilCondition('all', held);
    await sources.annotate('all', allowed('yes'));
    await untilNics('w-1:1 w-2:1 w-3:1 w-4:1 w-5:1 w-6:1');
    await sources.untilCondition('all', 'Ready True AllNodesConfigured');
    // The statuses are lost, and the hosts have NICs that no object lists.
    fixture.wallOffsetMs = 30 * 60_000;
    await fixture.stop();
    for (const n of numbers(1, 6)) {
      fixture.agents.hosts.get(`w-${n}`)?.set(`fa:16:3e:99:00:0${n}`, 9);
      const ref = { namespace: system, name: `w-${n}` };
      await fixture.admin.patchStatus(nodeConfigs, ref, { status: null });
    }
    fixture.run();
    for (const n of numbers(1, 6)) await fixture.untilReady(`w-${n}`, 'False RemovalHeld');
    await fixture.pass(100);
    for (const n of numbers(1, 6)) expect(fixture.agents.macsOn(`w-${n}`)).toHaveLength(2);
  });

  it('a held removal stays held after an hour and an edit for a different node', async () => {
    await sixNodes();
    await sources.edit('all', shortened(3));
    await sources.untilCondition('all', 'Ready True AllNodesConfigured');
    await sources.edit('all', shortened(4));
    await sources.untilCondition('all', held);
    fixture.wallOffsetMs = 90 * 60_000;
    await sources.edit('all', [
      ...shortened(4).slice(0, 5),
      bizNode(6, [], { interfaces: [bizNic(6, 1, { mtu: 1400 }), bizNic(6, 2)] }),
    ]);
    await fixture.until('w-6', ({ spec }) =>
      (spec?.interfaces ?? []).some((one) => (one as { mtu?: number }).mtu === 1400),
    );
    await fixture.pass(100);
    expect(await nics()).toBe('w-1:1 w-2:1 w-3:1 w-4:2 w-5:2 w-6:2');
    expect(fixture.agents.macsOn('w-4')).toHaveLength(2);
  });

  it('a removal is held when the annotation value existed before the first status', async () => {
    await sixNodes(allowed('from the template'));
    await sources.edit('all', []);
    await sources.untilCondition('all', held);
    await fixture.pass(100);
    expect(names()).toHaveLength(6);
  });

  it('a held removal does not block other edits, and its node stays unchanged', async () => {
    await sixNodes();
    await sources.delete('all');
    await sources.create('all', [bizNode(1, [2, 3]), ...list(2, 4), bizNode(5, [1, 2, 3])]);
    await sources.untilCondition('all', held);
    expect(await nics()).toBe('w-1:2 w-2:2 w-3:2 w-4:2 w-5:3 w-6:2');
    const { spec } = await fixture.get('w-1');
    expect(spec?.interfaces).toMatchObject([{ portId: 'port-1-1' }, { portId: 'port-1-2' }]);
  });

  it('removals are held when the source was restored with a new uid and its old annotation', async () => {
    await sixNodes();
    await sources.delete('all');
    await sources.create('all', list(1, 5), { annotations: allowed('old') });
    const source = await sources.untilCondition('all', held);
    expect(findCondition(source.status?.conditions, 'RemovalHeld')?.message).toContain(
      'another uid',
    );
    await fixture.pass(100);
    expect(names()).toHaveLength(6);
    // The new source now owns the listed nodes.
    const { annotations } = (await fixture.get('w-1')).metadata;
    expect(annotations?.['multinic.io/biz-source']).toContain(source.metadata.uid);
    expect(await fixture.ready('w-1')).toBe('True AllInterfacesConfigured');
  });

  it('removals are held when the source was restored read-only with its old annotation and becomes active', async () => {
    await sixNodes();
    await sources.delete('all');
    const readOnly = { 'multinic.io/biz-config-mode': 'read-only' };
    await sources.create('all', list(1, 5), { annotations: { ...allowed('old'), ...readOnly } });
    await sources.until('all', ({ status }) => status !== undefined);
    await sources.annotate('all', { 'multinic.io/biz-config-mode': null });
    await sources.until('all', (now) => !conditionsOf(now).includes('ReadOnly True ReadOnly'));
    await fixture.pass(100);
    expect(names()).toHaveLength(6);
    await sources.annotate('all', allowed('new'));
    await untilNics('w-1:2 w-2:2 w-3:2 w-4:2 w-5:2');
  });

  it('an object without an entry is kept while an entry names no node', async () => {
    await sixNodes();
    await sources.edit('all', [...list(1, 5), { interfaces: [] }]);
    await sources.untilCondition('all', 'Accepted False EntriesRefused');
    await fixture.pass(100);
    expect(names()).toHaveLength(6);
  });

  it.each([-3, 3])(
    'a consent releases deletions with the controller clock %d h off',
    async (hours) => {
      fixture.wallOffsetMs = hours * 3_600_000;
      await sixNodes();
      await sources.edit('all', list(5, 6));
      await sources.untilCondition('all', held);
      await sources.annotate('all', allowed('2026-11-26T10:00:00Z'));
      await fixture.eventually(
        () => names().length === 2,
        () => names().join(),
      );
    },
  );
});
