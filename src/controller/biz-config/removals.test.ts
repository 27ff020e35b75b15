import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BizSources, bizNode, conditionsOf } from '../../../test/fixtures/biz-samples.ts';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';
import { findCondition } from '../../api/condition.ts';
import type { BizNode } from '../../api/multinicbizconfig.ts';

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

describe('removals by a MultiNicBizConfig', () => {
  it('removing three nodes each from two sources deletes their objects with consent', async () => {
    await sixNodes();
    await sources.create('more', list(11, 16));
    await sources.until('more', ({ status }) => status?.summary?.totalNodes === 6);
    await sources.edit('all', list(4, 6));
    await sources.edit('more', list(14, 16));
    await fixture.eventually(
      () => names().length === 6,
      () => names().join(),
    );
    await sources.untilCondition('all', 'Ready True AllNodesConfigured');
    expect(names()).toEqual(['w-14', 'w-15', 'w-16', 'w-4', 'w-5', 'w-6']);
    expect(fixture.events()).not.toContain('RemovalHeld');
  });

  it('removing NICs from three nodes is applied without a second hold by the controller', async () => {
    await sixNodes();
    await sources.edit('all', [...numbers(1, 3).map((n) => bizNode(n, [1])), ...list(4, 6)]);
    for (const n of numbers(1, 3)) {
      await fixture.until(`w-${n}`, ({ status }) => status?.interfaceStatuses?.length === 1);
      await fixture.untilReady(`w-${n}`, 'True AllInterfacesConfigured');
    }
    expect(fixture.events()).not.toContain('RemovalHeld');
  });

  it.each<[string, BizNode[] | null, string]>([
    ['from four nodes', list(5, 6), '4 of 6 nodes would lose NICs, more than the 3'],
    [
      'from four nodes’ NIC lists',
      [...numbers(1, 4).map((n) => bizNode(n, [2])), ...list(5, 6)],
      '4 of 6 nodes would lose NICs',
    ],
    [
      'from two nodes, plus NICs from two further nodes',
      [...numbers(3, 4).map((n) => bizNode(n, [2])), ...list(5, 6)],
      '4 of 6 nodes would lose NICs',
    ],
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

  it('a held removal does not block other edits, and its node stays unchanged', async () => {
    await sixNodes();
    const nodes = [
      ...numbers(1, 4).map((n) => bizNode(n, [2, 3])),
      bizNode(5, [1, 2, 3]),
      bizNode(6, [1, 2]),
    ];
    await sources.edit('all', nodes);
    await sources.untilCondition('all', held);
    expect(await nics()).toBe('w-1:2 w-2:2 w-3:2 w-4:2 w-5:3 w-6:2');
    const { spec } = await fixture.get('w-1');
    expect(spec?.interfaces).toMatchObject([{ portId: 'port-1-1' }, { portId: 'port-1-2' }]);
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

  it('a removal is held when the annotation value existed before the first status', async () => {
    await sixNodes(allowed('from the template'));
    await sources.edit('all', []);
    await sources.untilCondition('all', held);
    await fixture.pass(100);
    expect(names()).toHaveLength(6);
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

  it.each([-3, 3])('removals work with the controller clock %d h off', async (hours) => {
    fixture.wallOffsetMs = hours * 3_600_000;
    await sixNodes();
    await sources.edit('all', list(4, 6));
    await fixture.eventually(
      () => names().length === 3,
      () => names().join(),
    );
    expect(fixture.events()).not.toContain('RemovalHeld');
  });
});
