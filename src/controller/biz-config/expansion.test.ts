import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  allowGroups,
  BizSources,
  bizNode,
  conditionsOf,
  statesOf,
} from '../../../test/fixtures/biz-samples.ts';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';
import { nodeConfigs } from '../objects/stores.ts';

let fixture: ControllerFixture;
let sources: BizSources;

beforeEach(async () => {
  fixture = await ControllerFixture.start();
  sources = new BizSources(fixture);
});

afterEach(() => fixture[Symbol.asyncDispose]());

describe('a MultiNicBizConfig', () => {
  it('a MultiNicBizConfig becomes one MultiNicNodeConfig per entry and reports their states', async () => {
    for (const n of [1, 2]) await fixture.addNode(`w-${n}`, `i-${n}`);
    await sources.create('all', [bizNode(1, [1, 2]), bizNode(2, [1])]);
    fixture.run();
    const source = await sources.untilCondition('all', 'Ready True AllNodesConfigured');
    expect(statesOf(source)).toEqual(['w-1 Configured', 'w-2 Configured']);
    expect(conditionsOf(source)).toEqual([
      'Ready True AllNodesConfigured',
      'Accepted True Accepted',
      'Applied True AllNodesConfigured',
      'InProgress False AllNodesConfigured',
    ]);
    const { metadata, spec } = await fixture.get('w-1');
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

  it('an unchanged MultiNicBizConfig causes no writes, and many node changes one status write', async () => {
    for (let n = 1; n <= 9; n++) await fixture.addNode(`w-${n}`, `i-${n}`);
    await sources.create(
      'all',
      [1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => bizNode(n, [1])),
    );
    fixture.run();
    await sources.untilCondition('all', 'Ready True AllNodesConfigured');
    const writes = statusWrites();
    // Nine nodes start and finish within one or two seconds.
    expect(writes).toBeLessThanOrEqual(3);
    await fixture.pass(200);
    const before = fixture.writes().length;
    await fixture.pass(700);
    expect([statusWrites(), fixture.writes().length]).toEqual([writes, before]);
  });

  it("a user's own consent to adoption stays in the object, and causes no write beside one agent run", async () => {
    await fixture.addNode('w-1', 'i-1');
    const source = await sources.create('all', [bizNode(1, [1])]);
    fixture.run();
    await sources.untilCondition('all', 'Ready True AllNodesConfigured');
    const ref = { namespace: source.metadata.namespace ?? '', name: 'w-1' };
    const spec = { existingConfiguration: 'Adopt' as const };
    await fixture.admin.patch(nodeConfigs, ref, { spec }, { fieldManager: 'kubectl-patch' });
    await fixture.untilReady('w-1', 'True AllInterfacesConfigured');
    await fixture.pass(200);
    const before = fixture.writes().length;
    await sources.edit('all', [bizNode(1, [1, 2])]);
    await fixture.until('w-1', (config) => config.spec?.interfaces?.length === 2);
    await fixture.untilReady('w-1', 'True AllInterfacesConfigured');
    expect((await fixture.get('w-1')).spec?.existingConfiguration).toBe('Adopt');
    await fixture.pass(200);
    const since = fixture.writes().slice(before);
    expect(since.filter((write) => write === 'patch multinicnodeconfigs')).toHaveLength(1);
    expect(fixture.agents.requests.at(-1)).toMatchObject(spec);
  });

  it('each NIC keeps its index when entries are reordered, and only the changed node is written', async () => {
    await sources.create('all', [bizNode(1, [1, 2, 3]), bizNode(2, [1])]);
    fixture.run();
    await sources.until('all', ({ status }) => status?.summary?.totalNodes === 2);
    const { generation } = (await fixture.get('w-2')).metadata;
    await sources.edit('all', [bizNode(2, [1]), bizNode(1, [4, 3, 1])]);
    await fixture.until('w-1', ({ metadata }) => metadata.generation === 2);
    const { spec } = await fixture.get('w-1');
    expect(idsOf(spec?.interfaces)).toEqual({ 'port-1-1': 0, 'port-1-3': 2, 'port-1-4': 3 });
    expect((await fixture.get('w-2')).metadata.generation).toBe(generation);
  });

  it('a renamed server keeps its object and NICs', async () => {
    await fixture.addNode('w-1', 'i-1');
    await sources.create('all', [bizNode(1, [1])]);
    fixture.run();
    await sources.untilCondition('all', 'Ready True AllNodesConfigured');
    await sources.edit('all', [bizNode(1, [1], { attachedNodeName: 'renamed' })]);
    await fixture.until('w-1', ({ spec }) => spec?.nodeName === 'renamed');
    await sources.untilCondition('all', 'Ready True AllNodesConfigured');
    expect(names()).toEqual(['w-1']);
  });

  it("an entry whose node name is another entry's object name is refused", async () => {
    for (const n of [1, 2, 3]) await fixture.addNode(`w-${n}`, `i-${n}`);
    await sources.create('all', [bizNode(1, [1]), bizNode(2, [1])]);
    fixture.run();
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

  it("a refused entry shows field and message, and its node's object stays unchanged", async () => {
    await sources.create('all', [bizNode(1, [1]), bizNode(2, [1])]);
    fixture.run();
    await sources.until('all', ({ status }) => status?.summary?.totalNodes === 2);
    const before = await fixture.get('w-1');
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
    expect((await fixture.get('w-1')).spec).toEqual(before.spec);
    expect((await fixture.get('w-2')).spec?.interfaces).toHaveLength(2);
  });

  it('a deleted MultiNicBizConfig leaves every object', async () => {
    await fixture.addNode('w-1', 'i-1');
    await sources.create('all', [bizNode(1, [1])]);
    fixture.run();
    await sources.untilCondition('all', 'Ready True AllNodesConfigured');
    await sources.delete('all');
    await fixture.pass(200);
    expect(await fixture.ready('w-1')).toBe('True AllInterfacesConfigured');
    expect((await fixture.get('w-1')).metadata.deletionTimestamp).toBeUndefined();
  });
});

describe('a foreign object', () => {
  it.each([
    ['with the node name', 'w-1', { nodeName: 'w-1', instanceId: 'i-other' }],
    ['with the instance id', 'b', { nodeName: 'b', instanceId: 'I-1' }],
  ])('a foreign object %s wins and stays unchanged', async (_what, name, spec) => {
    await fixture.apply(name, { ...spec, interfaces: [] });
    await sources.create('all', [bizNode(1, [1]), bizNode(2, [1])]);
    fixture.run();
    const source = await sources.until('all', ({ status }) => status?.summary?.totalNodes === 2);
    expect(statesOf(source)).toEqual(['w-1 Pending NodeConfigWins', 'w-2 Pending']);
    expect((await fixture.get(name)).spec).toMatchObject(spec);
    expect(names()).toEqual([name, 'w-2'].toSorted());
    // Without the foreign object the entry becomes an object.
    await fixture.delete(name);
    await fixture.until(
      'w-1',
      ({ metadata }) => metadata.labels?.['multinic.io/biz-config'] === 'all',
    );
  });

  it.each([
    ['for a listed node', 'w-1', { 'multinic.io/biz-config': 'all' }, {}],
    ['for an unlisted node', 'w-9', { 'multinic.io/biz-config': 'all' }, {}],
    ['with an additional forged annotation', 'w-9', { 'multinic.io/biz-config': 'all' }, forged],
  ])(
    'a foreign object %s loses only its forged label',
    async (_what, name, labels, annotations) => {
      const spec = { nodeName: name, instanceId: `i-of-${name}`, interfaces: [] };
      await fixture.apply(name, spec, { labels, annotations });
      await sources.create('all', [bizNode(1, [1])]);
      fixture.run();
      await fixture.until(
        name,
        ({ metadata }) => metadata.labels?.['multinic.io/biz-config'] === undefined,
      );
      await sources.until('all', ({ status }) => status?.summary?.totalNodes === 1);
      const { metadata, spec: after } = await fixture.get(name);
      expect(after).toEqual(spec);
      expect(metadata.annotations ?? {}).toEqual(annotations);
      expect(metadata.generation).toBe(1);
      expect(metadata.deletionTimestamp).toBeUndefined();
    },
  );

  it("a node taken over by Viola keeps Viola's NICs and loses the label", async () => {
    await sources.create('all', [bizNode(1, [1])]);
    fixture.run();
    await sources.until('all', ({ status }) => status?.summary?.totalNodes === 1);
    const viola = { nodeName: 'w-1', instanceId: 'i-1', interfaces: [] };
    await fixture.apply('w-1', viola);
    await sources.until(
      'all',
      (source) => statesOf(source)[0]?.includes('NodeConfigWins') ?? false,
    );
    const { metadata, spec } = await fixture.get('w-1');
    expect(spec).toMatchObject(viola);
    expect(metadata.labels?.['multinic.io/biz-config']).toBeUndefined();
  });

  it.each([
    ['in one group', 'multinic.io', 'second'],
    ['in two groups with the same name', 'multinic.okestro.io', 'first'],
  ] as const)(
    'a node listed by two sources %s belongs to the first source',
    async (_what, group, name) => {
      await allowGroups(fixture);
      await sources.create('first', [bizNode(1, [1])]);
      fixture.run({ 'biz-config-groups': 'multinic.io,multinic.okestro.io' });
      await sources.until('first', ({ status }) => status?.summary?.totalNodes === 1);
      await sources.create(name, [bizNode(1, [2])], { group });
      const second = await sources.until(name, ({ status }) => status !== undefined, group);
      expect(statesOf(second)).toEqual(['w-1 Pending NodeConfigWins']);
      const { metadata, spec } = await fixture.get('w-1');
      expect(idsOf(spec?.interfaces)).toEqual({ 'port-1-1': 0 });
      expect(metadata.labels?.['multinic.io/biz-config']).toBe('first');
    },
  );
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
  return fixture.api
    .objects('multinicnodeconfigs.multinic.io')
    .map(({ metadata }) => metadata.name)
    .toSorted();
}

function statusWrites(): number {
  return fixture.writes().filter((write) => write === 'patch multinicbizconfigs status').length;
}

function idsOf(interfaces: readonly unknown[] | undefined) {
  const nics = (interfaces ?? []) as readonly { readonly portId: string; readonly id: number }[];
  return Object.fromEntries(nics.map(({ portId, id }) => [portId, id]));
}
