import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BizSources, bizNode, conditionsOf } from '../../../test/fixtures/biz-samples.ts';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';
import { findCondition } from '../../api/condition.ts';
import type { BizNode } from '../../api/multinicbizconfig.ts';

let bed: ControllerFixture;
let sources: BizSources;

beforeEach(async () => {
  bed = await ControllerFixture.start();
  sources = new BizSources(bed);
});

afterEach(() => bed[Symbol.asyncDispose]());

const numbers = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, n) => first + n);

/** Nodes `w-FIRST` to `w-LAST` with two NICs each. */
const list = (first: number, last: number): BizNode[] =>
  numbers(first, last).map((n) => bizNode(n, [1, 2]));

/** Six nodes that are configured. */
async function sixNodes(annotations = {}): Promise<void> {
  for (const n of numbers(1, 6)) await bed.addNode(`w-${n}`, `i-${n}`);
  await sources.create('all', list(1, 6), { annotations });
  bed.run();
  await sources.untilCondition('all', 'Ready True AllNodesConfigured');
}

const held = 'RemovalHeld True RemovalHeld';
const allowed = (value: string) => ({ 'multinic.io/allow-removals': value });

function names(): string[] {
  return bed.api
    .objects('multinicnodeconfigs.multinic.io')
    .map(({ metadata }) => metadata.name)
    .toSorted();
}

/** NICs of each node, `w-1:2 w-2:2`. */
async function nics(): Promise<string> {
  const found = await Promise.all(names().map((name) => bed.get(name)));
  return found
    .map(({ metadata, spec }) => `${metadata.name}:${spec?.interfaces?.length}`)
    .join(' ');
}

async function untilNics(wanted: string): Promise<void> {
  await bed.eventually(
    async () => (await nics()) === wanted,
    () => `nodes are ${names().join()}`,
  );
}

describe('a removal', () => {
  it('of three nodes of each of two sources deletes their objects, with consent', async () => {
    await sixNodes();
    await sources.create('more', list(11, 16));
    await sources.until('more', ({ status }) => status?.summary?.totalNodes === 6);
    await sources.edit('all', list(4, 6));
    await sources.edit('more', list(14, 16));
    await bed.eventually(
      () => names().length === 6,
      () => names().join(),
    );
    await sources.untilCondition('all', 'Ready True AllNodesConfigured');
    expect(names()).toEqual(['w-14', 'w-15', 'w-16', 'w-4', 'w-5', 'w-6']);
    expect(bed.events()).not.toContain('RemovalHeld');
  });

  it('of NICs of three nodes is applied, and the controller does not hold it again', async () => {
    await sixNodes();
    await sources.edit('all', [...numbers(1, 3).map((n) => bizNode(n, [1])), ...list(4, 6)]);
    for (const n of numbers(1, 3)) {
      await bed.until(`w-${n}`, ({ status }) => status?.interfaceStatuses?.length === 1);
      await bed.untilReady(`w-${n}`, 'True AllInterfacesConfigured');
    }
    expect(bed.events()).not.toContain('RemovalHeld');
  });

  it.each<[string, BizNode[] | null, string]>([
    ['of four nodes', list(5, 6), '4 of 6 nodes would lose NICs, more than the 3'],
    [
      'of NICs of four nodes',
      [...numbers(1, 4).map((n) => bizNode(n, [2])), ...list(5, 6)],
      '4 of 6 nodes would lose NICs',
    ],
    [
      'of two nodes, and of NICs of two more',
      [...numbers(3, 4).map((n) => bizNode(n, [2])), ...list(5, 6)],
      '4 of 6 nodes would lose NICs',
    ],
    ['by an empty list', [], 'nodeConfigs is empty or absent'],
    ['by a list that is gone', null, 'nodeConfigs is empty or absent'],
  ])('%s waits for a new value of the annotation', async (_what, nodes, why) => {
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
    await bed.pass(100);
    expect(await nics()).toBe(before);
    await sources.annotate('all', allowed('2026-11-26T10:00:00Z'));
    await sources.until('all', (now) => !conditionsOf(now).includes(held));
    const left = nodes ?? [];
    const wanted = left.map(
      ({ attachedNodeName, interfaces }) => `${attachedNodeName}:${interfaces?.length}`,
    );
    await untilNics(wanted.join(' '));
    await sources.untilCondition('all', 'Ready True AllNodesConfigured');
    expect(bed.events().filter((reason) => reason === 'RemovalHeld')).toHaveLength(1);
  });

  it('that waits leaves other edits free, and its own node as it is', async () => {
    await sixNodes();
    const nodes = [
      ...numbers(1, 4).map((n) => bizNode(n, [2, 3])),
      bizNode(5, [1, 2, 3]),
      bizNode(6, [1, 2]),
    ];
    await sources.edit('all', nodes);
    await sources.untilCondition('all', held);
    expect(await nics()).toBe('w-1:2 w-2:2 w-3:2 w-4:2 w-5:3 w-6:2');
    const { spec } = await bed.get('w-1');
    expect(spec?.interfaces).toMatchObject([{ portId: 'port-1-1' }, { portId: 'port-1-2' }]);
  });

  it('that is undone waits no more', async () => {
    await sixNodes();
    await sources.edit('all', []);
    await sources.untilCondition('all', held);
    await sources.edit('all', list(1, 6));
    await sources.until('all', (source) => !conditionsOf(source).includes(held));
    expect(names()).toHaveLength(6);
  });

  it('waits for another value when that one was used for an earlier edit', async () => {
    await sixNodes();
    await sources.edit('all', list(5, 6));
    await sources.untilCondition('all', held);
    await sources.annotate('all', allowed('once'));
    await bed.eventually(
      () => names().length === 2,
      () => names().join(),
    );
    await sources.edit('all', []);
    await sources.untilCondition('all', held);
    await bed.pass(100);
    expect(names()).toEqual(['w-5', 'w-6']);
    await sources.annotate('all', allowed('twice'));
    await bed.eventually(
      () => names().length === 0,
      () => names().join(),
    );
  });

  it('waits when the value stood there before there was anything to allow', async () => {
    await sixNodes(allowed('from the template'));
    await sources.edit('all', []);
    await sources.untilCondition('all', held);
    await bed.pass(100);
    expect(names()).toHaveLength(6);
  });

  it('waits when the source was restored under another uid, with its old annotation', async () => {
    await sixNodes();
    await sources.delete('all');
    await sources.create('all', list(1, 5), { annotations: allowed('old') });
    const source = await sources.untilCondition('all', held);
    expect(findCondition(source.status?.conditions, 'RemovalHeld')?.message).toContain(
      'another uid',
    );
    await bed.pass(100);
    expect(names()).toHaveLength(6);
    // The nodes of the list are the new source's now.
    const { annotations } = (await bed.get('w-1')).metadata;
    expect(annotations?.['multinic.io/biz-source']).toContain(source.metadata.uid);
    expect(await bed.ready('w-1')).toBe('True AllInterfacesConfigured');
  });

  it('waits when the source was restored read-only, with its old annotation, and becomes active', async () => {
    await sixNodes();
    await sources.delete('all');
    const readOnly = { 'multinic.io/biz-config-mode': 'read-only' };
    await sources.create('all', list(1, 5), { annotations: { ...allowed('old'), ...readOnly } });
    await sources.until('all', ({ status }) => status !== undefined);
    await sources.annotate('all', { 'multinic.io/biz-config-mode': null });
    await sources.until('all', (now) => !conditionsOf(now).includes('ReadOnly True ReadOnly'));
    await bed.pass(100);
    expect(names()).toHaveLength(6);
    await sources.annotate('all', allowed('new'));
    await untilNics('w-1:2 w-2:2 w-3:2 w-4:2 w-5:2');
  });

  it('of an object without an entry waits while an entry names no node', async () => {
    await sixNodes();
    await sources.edit('all', [...list(1, 5), { interfaces: [] }]);
    await sources.untilCondition('all', 'Accepted False EntriesRefused');
    await bed.pass(100);
    expect(names()).toHaveLength(6);
  });

  it.each([-3, 3])('works with a clock of the controller that is %d h off', async (hours) => {
    bed.wallOffsetMs = hours * 3_600_000;
    await sixNodes();
    await sources.edit('all', list(4, 6));
    await bed.eventually(
      () => names().length === 3,
      () => names().join(),
    );
    expect(bed.events()).not.toContain('RemovalHeld');
  });
});
