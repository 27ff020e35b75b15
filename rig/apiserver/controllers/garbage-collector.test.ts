import { describe, expect, it } from 'vitest';
import type { KubeObject, OwnerReference } from '../objects/object.ts';
import { type TestCluster, testCluster } from './cluster-in-test.ts';
import { garbageCollector } from './garbage-collector.ts';
import { namespaceController } from './namespaces.ts';

const maps = 'configmaps';

function ownedBy(owner: KubeObject, more: Partial<OwnerReference> = {}): OwnerReference {
  const { name, uid = '' } = owner.metadata;
  return { apiVersion: 'v1', kind: 'ConfigMap', name, uid, ...more };
}

function family(test: TestCluster, more: Partial<OwnerReference> = {}): void {
  const owner = test.create(maps, { name: 'owner' });
  test.create(maps, { name: 'owned', ownerReferences: [ownedBy(owner, more)] });
}

describe('the garbage collector', () => {
  it('takes what an object owned along, at any depth', async () => {
    using test = testCluster(garbageCollector);
    family(test);
    const owned = test.get(maps, 'owned') as KubeObject;
    test.create(maps, { name: 'grandchild', ownerReferences: [ownedBy(owned)] });
    await test.settle();
    expect(test.list(maps)).toHaveLength(3);
    test.remove(maps, 'owner');
    await test.settle();
    expect(test.list(maps)).toEqual([]);
  });

  it('collects an object whose owner is another one of the same name', async () => {
    using test = testCluster(garbageCollector);
    const owner = test.create(maps, { name: 'owner' });
    test.create(maps, { name: 'owned', ownerReferences: [ownedBy(owner, { uid: 'other' })] });
    await test.settle();
    expect(test.get(maps, 'owned')).toBeUndefined();
    expect(test.get(maps, 'owner')).toBeDefined();
  });

  it('forgets a gone owner while another one is left', async () => {
    using test = testCluster(garbageCollector);
    const [first, second] = [test.create(maps, { name: 'a' }), test.create(maps, { name: 'b' })];
    const ownerReferences = [ownedBy(first), ownedBy(second)];
    test.create(maps, { name: 'owned', ownerReferences });
    test.remove(maps, 'a');
    await test.settle();
    expect(test.get(maps, 'owned')?.metadata.ownerReferences).toEqual([ownedBy(second)]);
  });

  it('keeps an owner that is deleted in the foreground until what blocks it has gone', async () => {
    using test = testCluster(garbageCollector);
    const owner = test.create(maps, { name: 'owner' });
    const ownerReferences = [ownedBy(owner, { blockOwnerDeletion: true })];
    test.create(maps, { name: 'owned', ownerReferences, finalizers: ['example.com/hold'] });
    test.remove(maps, 'owner', { propagationPolicy: 'Foreground' });
    await test.settle();
    expect(test.get(maps, 'owner')?.metadata.finalizers).toEqual(['foregroundDeletion']);
    expect(test.get(maps, 'owned')?.metadata.deletionTimestamp).toBeDefined();
    const owned = test.get(maps, 'owned') as KubeObject;
    const { finalizers: _, ...metadata } = owned.metadata;
    test.change(maps, 'owned', { metadata });
    await test.settle();
    expect(test.list(maps)).toEqual([]);
  });

  it('cuts dependents loose when the owner is deleted with Orphan', async () => {
    using test = testCluster(garbageCollector);
    family(test);
    test.remove(maps, 'owner', { propagationPolicy: 'Orphan' });
    await test.settle();
    expect(test.get(maps, 'owner')).toBeUndefined();
    expect(test.get(maps, 'owned')?.metadata.ownerReferences).toBeUndefined();
  });
});

describe('a namespace that is deleted', () => {
  it('is emptied first, takes nothing new, and waits for finalizers', async () => {
    using test = testCluster(namespaceController);
    test.create(maps, { name: 'held', finalizers: ['example.com/hold'] });
    test.create(maps, { name: 'free' });
    test.remove('namespaces', 'default');
    await test.settle();
    expect(test.list(maps).map((one) => one.metadata.name)).toEqual(['held']);
    expect(test.get('namespaces', 'default')?.['status']).toEqual({ phase: 'Terminating' });
    expect(() => test.create(maps, { name: 'late' })).toThrow('because it is being terminated');
    const { finalizers: _, ...metadata } = (test.get(maps, 'held') as KubeObject).metadata;
    test.change(maps, 'held', { metadata });
    await test.settle();
    expect(test.get('namespaces', 'default')).toBeUndefined();
  });
});
