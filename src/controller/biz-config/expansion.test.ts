import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  allowGroups,
  BizSources,
  bizNode,
  conditionsOf,
  statesOf,
} from '../../../test/fixtures/biz-samples.ts';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';

let bed: ControllerFixture;
let sources: BizSources;

beforeEach(async () => {
  bed = await ControllerFixture.start();
  sources = new BizSources(bed);
});

afterEach(() => bed[Symbol.asyncDispose]());

describe('a MultiNicBizConfig', () => {
  it('becomes one MultiNicNodeConfig per entry, whose states it reports', async () => {
    for (const n of [1, 2]) await bed.addNode(`w-${n}`, `i-${n}`);
    await sources.create('all', [bizNode(1, [1, 2]), bizNode(2, [1])]);
    bed.run();
    const source = await sources.untilCondition('all', 'Ready True AllNodesConfigured');
    expect(statesOf(source)).toEqual(['w-1 Configured', 'w-2 Configured']);
    expect(conditionsOf(source)).toEqual([
      'Ready True AllNodesConfigured',
      'Accepted True Accepted',
      'Applied True AllNodesConfigured',
      'InProgress False AllNodesConfigured',
    ]);
    const { metadata, spec } = await bed.get('w-1');
    expect(metadata).toMatchObject({
      labels: { 'multinic.io/biz-config': 'all', 'multinic.io/instance-id': 'i-1' },
      annotations: {
        'multinic.io/biz-source': JSON.stringify({
          group: 'multinic.io',
          name: 'all',
          uid: source.metadata.uid,
          generation: 1,
        }),
      },
    });
    expect(metadata.ownerReferences).toBeUndefined();
    expect(spec?.interfaces).toMatchObject([{ id: 0 }, { id: 1 }]);
  });

  it('writes nothing at rest, and one status for many changes of its nodes', async () => {
    for (let n = 1; n <= 9; n++) await bed.addNode(`w-${n}`, `i-${n}`);
    await sources.create(
      'all',
      [1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => bizNode(n, [1])),
    );
    bed.run();
    await sources.untilCondition('all', 'Ready True AllNodesConfigured');
    const writes = statusWrites();
    // Nine nodes begin and end within a second or two.
    expect(writes).toBeLessThanOrEqual(3);
    await bed.pass(200);
    const before = bed.writes().length;
    await bed.pass(700);
    expect([statusWrites(), bed.writes().length]).toEqual([writes, before]);
  });

  it('keeps the index of each NIC through other orders, and writes only the node that changes', async () => {
    await sources.create('all', [bizNode(1, [1, 2, 3]), bizNode(2, [1])]);
    bed.run();
    await sources.until('all', ({ status }) => status?.summary?.totalNodes === 2);
    const { generation } = (await bed.get('w-2')).metadata;
    await sources.edit('all', [bizNode(2, [1]), bizNode(1, [4, 3, 1])]);
    await bed.until('w-1', ({ metadata }) => metadata.generation === 2);
    const { spec } = await bed.get('w-1');
    expect(idsOf(spec?.interfaces)).toEqual({ 'port-1-1': 0, 'port-1-3': 2, 'port-1-4': 3 });
    expect((await bed.get('w-2')).metadata.generation).toBe(generation);
  });

  it('keeps the object, and by that the NICs, of a server that is renamed', async () => {
    await bed.addNode('w-1', 'i-1');
    await sources.create('all', [bizNode(1, [1])]);
    bed.run();
    await sources.untilCondition('all', 'Ready True AllNodesConfigured');
    await sources.edit('all', [bizNode(1, [1], { attachedNodeName: 'renamed' })]);
    await bed.until('w-1', ({ spec }) => spec?.nodeName === 'renamed');
    await sources.untilCondition('all', 'Ready True AllNodesConfigured');
    expect(names()).toEqual(['w-1']);
  });

  it('refuses an entry whose object another entry has by its instance id', async () => {
    for (const n of [1, 2, 3]) await bed.addNode(`w-${n}`, `i-${n}`);
    await sources.create('all', [bizNode(1, [1]), bizNode(2, [1])]);
    bed.run();
    await sources.untilCondition('all', 'Ready True AllNodesConfigured');
    await sources.edit('all', [
      bizNode(1, [1], { attachedNodeId: 'i-2' }),
      bizNode(2, [1], { attachedNodeId: 'i-3' }),
    ]);
    const source = await sources.untilCondition('all', 'Ready False EntriesRefused');
    expect(source.status?.nodeStatuses?.[1]).toMatchObject({
      state: 'Failed',
      message: expect.stringContaining('attachedNodeName: MultiNicNodeConfig w-2') as string,
    });
    await sources.edit('all', [
      bizNode(1, [1], { attachedNodeId: 'i-2' }),
      bizNode(2, [1], { attachedNodeId: 'i-3', attachedNodeName: 'w-3' }),
    ]);
    await sources.untilCondition('all', 'Ready True AllNodesConfigured');
    expect(names()).toEqual(['w-2', 'w-3']);
  });

  it('refuses an entry with field and message, and leaves the object of its node as it is', async () => {
    await sources.create('all', [bizNode(1, [1]), bizNode(2, [1])]);
    bed.run();
    await sources.until('all', ({ status }) => status?.summary?.totalNodes === 2);
    const before = await bed.get('w-1');
    const bad = bizNode(1, [1, 2]);
    const [nic = {}] = bad.interfaces ?? [];
    await sources.edit('all', [
      { ...bad, interfaces: [{ ...nic, mtu: 9_001 }] },
      bizNode(2, [1, 2]),
    ]);
    const source = await sources.untilCondition('all', 'Accepted False EntriesRefused');
    expect(source.status?.nodeStatuses?.[0]).toMatchObject({
      state: 'Failed',
      reason: 'EntriesRefused',
      message: expect.stringContaining('interfaces[0].mtu: 9001') as string,
    });
    expect((await bed.get('w-1')).spec).toEqual(before.spec);
    expect((await bed.get('w-2')).spec?.interfaces).toHaveLength(2);
  });

  it('that is deleted keeps every object', async () => {
    await bed.addNode('w-1', 'i-1');
    await sources.create('all', [bizNode(1, [1])]);
    bed.run();
    await sources.untilCondition('all', 'Ready True AllNodesConfigured');
    await sources.delete('all');
    await bed.pass(200);
    expect(await bed.ready('w-1')).toBe('True AllInterfacesConfigured');
    expect((await bed.get('w-1')).metadata.deletionTimestamp).toBeUndefined();
  });
});

describe('the object of another writer', () => {
  it.each([
    ['of the node name', 'w-1', { nodeName: 'w-1', instanceId: 'i-other' }],
    ['of the instance id', 'b', { nodeName: 'b', instanceId: 'I-1' }],
  ])('%s wins, and stays as it is', async (_what, name, spec) => {
    await bed.apply(name, { ...spec, interfaces: [] });
    await sources.create('all', [bizNode(1, [1]), bizNode(2, [1])]);
    bed.run();
    const source = await sources.until('all', ({ status }) => status?.summary?.totalNodes === 2);
    expect(statesOf(source)).toEqual(['w-1 Pending NodeConfigWins', 'w-2 Pending']);
    expect((await bed.get(name)).spec).toMatchObject(spec);
    expect(names()).toEqual([name, 'w-2'].toSorted());
    // Without it the entry becomes an object.
    await bed.delete(name);
    await bed.until('w-1', ({ metadata }) => metadata.labels?.['multinic.io/biz-config'] === 'all');
  });

  it.each([
    ['of a node of the list', 'w-1', { 'multinic.io/biz-config': 'all' }, {}],
    ['of another node', 'w-9', { 'multinic.io/biz-config': 'all' }, {}],
    ['with a forged annotation, too', 'w-9', { 'multinic.io/biz-config': 'all' }, forged],
  ])('%s loses a forged label and nothing else', async (_what, name, labels, annotations) => {
    const spec = { nodeName: name, instanceId: `i-of-${name}`, interfaces: [] };
    await bed.apply(name, spec, { labels, annotations });
    await sources.create('all', [bizNode(1, [1])]);
    bed.run();
    await bed.until(
      name,
      ({ metadata }) => metadata.labels?.['multinic.io/biz-config'] === undefined,
    );
    await sources.until('all', ({ status }) => status?.summary?.totalNodes === 1);
    const { metadata, spec: after } = await bed.get(name);
    expect(after).toEqual(spec);
    expect(metadata.annotations ?? {}).toEqual(annotations);
    expect(metadata.generation).toBe(1);
    expect(metadata.deletionTimestamp).toBeUndefined();
  });

  it('keeps the NICs that Viola gives a node of the list, and loses the label', async () => {
    await sources.create('all', [bizNode(1, [1])]);
    bed.run();
    await sources.until('all', ({ status }) => status?.summary?.totalNodes === 1);
    const viola = { nodeName: 'w-1', instanceId: 'i-1', interfaces: [] };
    await bed.apply('w-1', viola);
    await sources.until(
      'all',
      (source) => statesOf(source)[0]?.includes('NodeConfigWins') ?? false,
    );
    const { metadata, spec } = await bed.get('w-1');
    expect(spec).toMatchObject(viola);
    expect(metadata.labels?.['multinic.io/biz-config']).toBeUndefined();
  });

  it.each([
    ['of one group', 'multinic.io', 'second'],
    ['of both groups, with one name', 'multinic.okestro.io', 'first'],
  ] as const)('of two sources %s is that of the first', async (_what, group, name) => {
    await allowGroups(bed);
    await sources.create('first', [bizNode(1, [1])]);
    bed.run({ 'biz-config-groups': 'multinic.io,multinic.okestro.io' });
    await sources.until('first', ({ status }) => status?.summary?.totalNodes === 1);
    await sources.create(name, [bizNode(1, [2])], { group });
    const second = await sources.until(name, ({ status }) => status !== undefined, group);
    expect(statesOf(second)).toEqual(['w-1 Pending NodeConfigWins']);
    const { metadata, spec } = await bed.get('w-1');
    expect(idsOf(spec?.interfaces)).toEqual({ 'port-1-1': 0 });
    expect(metadata.labels?.['multinic.io/biz-config']).toBe('first');
  });
});

const forged = {
  'multinic.io/biz-source': JSON.stringify({
    group: 'multinic.io',
    name: 'all',
    uid: 'u',
    generation: 1,
  }),
};

function names(): string[] {
  return bed.api
    .objects('multinicnodeconfigs.multinic.io')
    .map(({ metadata }) => metadata.name)
    .toSorted();
}

function statusWrites(): number {
  return bed.writes().filter((write) => write === 'patch multinicbizconfigs status').length;
}

function idsOf(interfaces: readonly unknown[] | undefined) {
  const nics = (interfaces ?? []) as readonly { readonly portId: string; readonly id: number }[];
  return Object.fromEntries(nics.map(({ portId, id }) => [portId, id]));
}
