import { describe, expect, test } from 'vitest';
import { isConflict, isNotFound } from '../../../src/kube/errors.ts';
import { refusalOf } from './refusal.ts';
import { type Widget, widgets } from './widget.ts';
import { type KubeFixture, widget } from './world.ts';

const alice = { fieldManager: 'alice' };
const bob = { fieldManager: 'bob' };

export function statusContract(world: () => KubeFixture): void {
  async function one() {
    const { client, namespace } = world();
    const created = await client.apply(widgets, widget(await namespace(), 'one'), alice);
    const { namespace: inside = '', name } = created.metadata;
    const metadata = { namespace: inside, name };
    return { client, created, metadata };
  }

  describe('status', () => {
    test('S01 applying the status leaves spec and generation alone', async () => {
      const { client, created, metadata } = await one();
      const wanted = { metadata, spec: { color: 'blue' }, status: { phase: 'Ready' } };
      const applied = await client.applyStatus(widgets, wanted, bob);
      expect(applied.status).toEqual({ phase: 'Ready' });
      expect(applied.spec).toEqual(created.spec);
      expect(applied.metadata.generation).toBe(1);
    });

    test('S02 applying the object leaves the status alone', async () => {
      const { client, metadata } = await one();
      await client.applyStatus(widgets, { metadata, status: { phase: 'Ready' } }, bob);
      const wanted = { metadata, spec: { color: 'blue' }, status: { phase: 'Lost' } };
      const applied = await client.apply(widgets, wanted, alice);
      expect(applied).toMatchObject({ spec: { color: 'blue' }, status: { phase: 'Ready' } });
    });

    test('S03 patching the status changes the status only', async () => {
      const { client, created, metadata } = await one();
      const patch = { spec: { color: 'blue' }, status: { phase: 'Ready' } };
      const patched = await client.patchStatus(widgets, metadata, patch);
      expect(patched).toMatchObject({ spec: created.spec, status: { phase: 'Ready' } });
      expect(patched.metadata.resourceVersion).not.toBe(created.metadata.resourceVersion);
      const later = await client.patch(widgets, metadata, { status: { phase: 'Lost' } });
      expect(later.status).toEqual({ phase: 'Ready' });
    });

    test('S04 a status given at creation is dropped', async () => {
      const { client, namespace } = world();
      const wanted = { ...widget(await namespace(), 'two'), status: { phase: 'Ready' } };
      expect((await client.create(widgets, wanted)).status).toBeUndefined();
    });

    test('S05 conditions from two managers are merged, a shared condition conflicts', async () => {
      const { client, metadata } = await one();
      const condition = (type: string, status: string) => ({
        metadata,
        status: { conditions: [{ type, status }] },
      });
      await client.applyStatus(widgets, condition('A', 'True'), alice);
      const both = await client.applyStatus(widgets, condition('B', 'True'), bob);
      expect(conditionsOf(both)).toEqual(['A=True', 'B=True']);
      const taken = client.applyStatus(widgets, condition('A', 'False'), bob);
      expect(isConflict(await refusalOf(taken))).toBe(true);
    });

    test('S06 the status of a missing object cannot be written', async () => {
      const { client, namespace } = world();
      const metadata = { namespace: await namespace(), name: 'missing' };
      const wanted = { metadata, status: { phase: 'Ready' } };
      expect(isNotFound(await refusalOf(client.applyStatus(widgets, wanted, alice)))).toBe(true);
      const patch = { status: { phase: 'Ready' } };
      expect(isNotFound(await refusalOf(client.patchStatus(widgets, metadata, patch)))).toBe(true);
    });

    test('S07 labels written beside the status are ignored', async () => {
      const { client, metadata } = await one();
      const patch = { metadata: { labels: { a: 'b' } }, status: { phase: 'Ready' } };
      const patched = await client.patchStatus(widgets, metadata, patch);
      expect(patched.metadata.labels).toBeUndefined();
      expect(patched.status).toEqual({ phase: 'Ready' });
    });

    test('S08 the same status again keeps the resourceVersion', async () => {
      const { client, metadata } = await one();
      const wanted = { metadata, status: { phase: 'Ready' } };
      const first = await client.applyStatus(widgets, wanted, bob);
      const again = await client.applyStatus(widgets, wanted, bob);
      expect(again.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    });
  });
}

function conditionsOf({ status }: Widget): readonly string[] {
  return (status?.conditions ?? [])
    .map((condition) => `${condition.type}=${condition.status}`)
    .toSorted();
}
