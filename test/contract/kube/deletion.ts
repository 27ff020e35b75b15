import { describe, expect, test } from 'vitest';
import { type ConfigMap, configMaps } from '../../../src/kube/core-resources.ts';
import { isConflict, isInvalid, isNotFound } from '../../../src/kube/errors.ts';
import { eventually } from './eventually.ts';
import { refusalOf } from './refusal.ts';
import { widgets } from './widget.ts';
import { type KubeFixture, widget } from './world.ts';

const finalizers = ['example.com/wait'];

export function deletionContract(world: () => KubeFixture): void {
  async function held() {
    const { client, namespace } = world();
    const wanted = widget(await namespace(), 'one');
    const created = await client.create(widgets, {
      ...wanted,
      metadata: { ...wanted.metadata, finalizers },
    });
    return { client, created, ref: wanted.metadata };
  }

  describe('deletion', () => {
    test('D01 a deleted object is gone, deleting it again is NotFound', async () => {
      const { client, namespace } = world();
      const { metadata } = await client.create(widgets, widget(await namespace(), 'one'));
      await client.delete(widgets, metadata);
      expect(await client.find(widgets, metadata)).toBeUndefined();
      expect(isNotFound(await refusalOf(client.delete(widgets, metadata)))).toBe(true);
    });

    test('D02 the uid is a precondition', async () => {
      const { client, namespace } = world();
      const { metadata } = await client.create(widgets, widget(await namespace(), 'one'));
      const uid = '00000000-0000-4000-8000-000000000000';
      expect(isConflict(await refusalOf(client.delete(widgets, metadata, { uid })))).toBe(true);
      expect(await client.find(widgets, metadata)).toBeDefined();
      await client.delete(widgets, metadata, { uid: metadata.uid ?? '' });
      expect(await client.find(widgets, metadata)).toBeUndefined();
    });

    test('D03 the resourceVersion is a precondition', async () => {
      const { client, namespace } = world();
      const { metadata } = await client.create(widgets, widget(await namespace(), 'one'));
      await client.patch(widgets, metadata, { spec: { size: 4 } });
      const { resourceVersion = '' } = metadata;
      const error = await refusalOf(client.delete(widgets, metadata, { resourceVersion }));
      expect(isConflict(error)).toBe(true);
      expect(await client.find(widgets, metadata)).toBeDefined();
    });

    test('D04 a new object with the same name has a new uid', async () => {
      const { client, namespace } = world();
      const wanted = widget(await namespace(), 'one');
      const first = await client.create(widgets, wanted);
      await client.delete(widgets, wanted.metadata);
      const second = await client.create(widgets, wanted);
      expect(second.metadata.uid).not.toBe(first.metadata.uid);
    });

    test('D05 with a finalizer the object stays, marked, until the finalizer is removed', async () => {
      const { client, ref } = await held();
      await client.delete(widgets, ref);
      const marked = await client.get(widgets, ref);
      expect(marked.metadata.deletionTimestamp).toMatch(/^\d{4}-\d\d-\d\dT/);
      expect(marked.metadata.finalizers).toEqual(finalizers);
      await client.patch(widgets, ref, { metadata: { finalizers: null } });
      expect(await client.find(widgets, ref)).toBeUndefined();
    });

    test('D06 marking for deletion counts as a new generation', async () => {
      const { client, ref } = await held();
      await client.delete(widgets, ref);
      expect((await client.get(widgets, ref)).metadata.generation).toBe(2);
      await client.patch(widgets, ref, { metadata: { finalizers: null } });
    });

    test('D07 a second deletion leaves deletionTimestamp unchanged', async () => {
      const { client, ref } = await held();
      await client.delete(widgets, ref);
      const marked = await client.get(widgets, ref);
      await client.delete(widgets, ref);
      expect((await client.get(widgets, ref)).metadata).toEqual(marked.metadata);
      await client.patch(widgets, ref, { metadata: { finalizers: null } });
    });

    test('D08 an object that is being deleted takes no new finalizer', async () => {
      const { client, ref } = await held();
      await client.delete(widgets, ref);
      const patch = { metadata: { finalizers: [...finalizers, 'example.com/late'] } };
      const error = await refusalOf(client.patch(widgets, ref, patch));
      expect(isInvalid(error)).toBe(true);
      expect(error.causes.map(({ field }) => field)).toContain('metadata.finalizers');
      await client.patch(widgets, ref, { metadata: { finalizers: null } });
    });

    test('D09 an object that is being deleted still takes status and spec', async () => {
      const { client, ref } = await held();
      await client.delete(widgets, ref);
      await client.patchStatus(widgets, ref, { status: { phase: 'Leaving' } });
      await client.patch(widgets, ref, { spec: { size: 9 } });
      const read = await client.get(widgets, ref);
      expect(read).toMatchObject({ spec: { size: 9 }, status: { phase: 'Leaving' } });
      await client.patch(widgets, ref, { metadata: { finalizers: null } });
    });

    test('D10 applying without the owned finalizer completes the deletion', async () => {
      const { client, namespace } = world();
      const wanted = widget(await namespace(), 'one');
      const alice = { fieldManager: 'alice' };
      const marked = { ...wanted, metadata: { ...wanted.metadata, finalizers } };
      await client.apply(widgets, marked, alice);
      await client.delete(widgets, wanted.metadata);
      await client.apply(widgets, wanted, alice);
      expect(await client.find(widgets, wanted.metadata)).toBeUndefined();
    });

    test('D11 dependents are deleted after their owner', async () => {
      const { client, namespace } = world();
      const inside = await namespace();
      const owner = await client.create(configMaps, {
        metadata: { namespace: inside, name: 'owner' },
      });
      const owned = { namespace: inside, name: 'owned', ownerReferences: [ownedBy(owner)] };
      await client.create(configMaps, { metadata: owned });
      await client.delete(configMaps, owner.metadata, { propagationPolicy: 'Background' });
      expect(await client.find(configMaps, owner.metadata)).toBeUndefined();
      await eventually(
        'the owned object to go',
        async () => !(await client.find(configMaps, owned)),
      );
    });

    test('D12 an object with two owners stays until both are deleted', async () => {
      const { client, namespace } = world();
      const inside = await namespace();
      const create = (name: string, owners: readonly ConfigMap[] = []) =>
        client.create(configMaps, {
          metadata: { namespace: inside, name, ownerReferences: owners.map(ownedBy) },
        });
      const [first, second] = [await create('first'), await create('second')];
      const shared = await create('shared', [first, second]);
      const alone = await create('alone', [first]);
      await client.delete(configMaps, first.metadata, { propagationPolicy: 'Background' });
      await eventually(
        'the other one to go',
        async () => !(await client.find(configMaps, alone.metadata)),
      );
      expect(await client.find(configMaps, shared.metadata)).toBeDefined();
    });
  });
}

function ownedBy({ metadata: { name, uid = '' } }: ConfigMap) {
  return { apiVersion: 'v1', kind: 'ConfigMap', name, uid };
}
