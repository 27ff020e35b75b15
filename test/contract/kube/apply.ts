import { describe, expect, test } from 'vitest';
import { configMaps, secrets } from '../../../src/kube/core-resources.ts';
import { isConflict } from '../../../src/kube/errors.ts';
import { refusalOf } from './refusal.ts';
import { widgets } from './widget.ts';
import { type KubeFixture, widget } from './world.ts';

const alice = { fieldManager: 'alice' };
const bob = { fieldManager: 'bob' };

export function applyContract(world: () => KubeFixture): void {
  describe('server-side apply', () => {
    test('A01 apply creates the object and notes the manager', async () => {
      const { client, namespace } = world();
      const applied = await client.apply(widgets, widget(await namespace(), 'one'), alice);
      expect(applied.metadata).toMatchObject({ name: 'one', generation: 1 });
      const manager = {
        manager: 'alice',
        operation: 'Apply',
        apiVersion: 'contract.example.com/v1',
      };
      expect(applied.metadata.managedFields).toMatchObject([manager]);
    });

    test('A02 the same apply again keeps the resourceVersion', async () => {
      const { client, namespace } = world();
      const wanted = widget(await namespace(), 'one', { size: 4, lines: ['x'] });
      const first = await client.apply(widgets, wanted, alice);
      const again = await client.apply(widgets, wanted, alice);
      expect(again).toEqual(first);
    });

    test('A03 a field with a different manager is a conflict that names field and manager', async () => {
      const { client, namespace } = world();
      const inside = await namespace();
      const first = await client.apply(widgets, widget(inside, 'one', { size: 4 }), alice);
      const error = await refusalOf(client.apply(widgets, widget(inside, 'one', { size: 5 }), bob));
      expect(isConflict(error)).toBe(true);
      expect(error.causes).toMatchObject([{ field: '.spec.size' }]);
      expect(error.causes[0]?.message).toContain('conflict with "alice"');
      expect(await client.get(widgets, first.metadata)).toEqual(first);
    });

    test('A04 force takes the field over', async () => {
      const { client, namespace } = world();
      const inside = await namespace();
      await client.apply(widgets, widget(inside, 'one', { size: 4 }), alice);
      const mine = widget(inside, 'one', { size: 5 });
      const forced = await client.apply(widgets, mine, { ...bob, force: true });
      expect(forced.spec.size).toBe(5);
      const error = await refusalOf(
        client.apply(widgets, widget(inside, 'one', { size: 4 }), alice),
      );
      expect(error.causes[0]?.message).toContain('conflict with "bob"');
    });

    test('A05 a field that is no longer applied goes away', async () => {
      const { client, namespace } = world();
      const inside = await namespace();
      await client.apply(widgets, widget(inside, 'one', { code: 'abc', lines: ['x'] }), alice);
      const applied = await client.apply(widgets, widget(inside, 'one', { code: 'abc' }), alice);
      expect(applied.spec).toEqual({ color: 'red', code: 'abc', size: 3 });
    });

    test('A06 two managers keep their own fields', async () => {
      const { client, namespace } = world();
      const metadata = { namespace: await namespace(), name: 'one' };
      await client.apply(configMaps, { metadata, data: { a: '1' } }, alice);
      await client.apply(configMaps, { metadata, data: { b: '2' } }, bob);
      const applied = await client.apply(configMaps, { metadata, data: { c: '3' } }, alice);
      expect(applied.data).toEqual({ b: '2', c: '3' });
    });

    test('A07 a field that two managers apply with equal values stays until both remove the field', async () => {
      const { client, namespace } = world();
      const metadata = { namespace: await namespace(), name: 'one' };
      await client.apply(configMaps, { metadata, data: { a: '1' } }, alice);
      await client.apply(configMaps, { metadata, data: { a: '1' } }, bob);
      const kept = await client.apply(configMaps, { metadata }, alice);
      expect(kept.data).toEqual({ a: '1' });
      const gone = await client.apply(configMaps, { metadata }, bob);
      expect(gone.data).toBeUndefined();
    });

    test('A08 items in a map list belong to their applier', async () => {
      const { client, namespace } = world();
      const inside = await namespace();
      const parts = (...names: string[]) =>
        widget(inside, 'one', { parts: names.map((name) => ({ name })) });
      await client.apply(widgets, parts('a', 'b'), alice);
      await client.apply(widgets, parts('c'), bob);
      const applied = await client.apply(widgets, parts('b'), alice);
      expect(applied.spec.parts).toEqual([
        { name: 'b', count: 1 },
        { name: 'c', count: 1 },
      ]);
    });

    test('A09 a field inside an item of a map list conflicts alone', async () => {
      const { client, namespace } = world();
      const inside = await namespace();
      const counting = (count: number) => widget(inside, 'one', { parts: [{ name: 'a', count }] });
      await client.apply(widgets, counting(1), alice);
      const error = await refusalOf(client.apply(widgets, counting(2), bob));
      expect(error.causes).toMatchObject([{ field: '.spec.parts[name="a"].count' }]);
    });

    test('A10 an atomic list conflicts as a whole', async () => {
      const { client, namespace } = world();
      const inside = await namespace();
      await client.apply(widgets, widget(inside, 'one', { lines: ['a', 'b'] }), alice);
      const error = await refusalOf(
        client.apply(widgets, widget(inside, 'one', { lines: ['a', 'b', 'c'] }), bob),
      );
      expect(error.causes).toMatchObject([{ field: '.spec.lines' }]);
    });

    test('A11 labels, annotations and finalizers of two managers add up', async () => {
      const { client, namespace } = world();
      const ref = { namespace: await namespace(), name: 'one' };
      const marked = (mark: string) => ({
        metadata: {
          ...ref,
          labels: { [mark]: 'x' },
          annotations: { [`example.com/${mark}`]: 'y' },
          finalizers: [`example.com/${mark}`],
        },
      });
      await client.apply(configMaps, marked('a'), alice);
      const both = await client.apply(configMaps, marked('b'), bob);
      expect(both.metadata).toMatchObject({
        labels: { a: 'x', b: 'x' },
        annotations: { 'example.com/a': 'y', 'example.com/b': 'y' },
        finalizers: ['example.com/a', 'example.com/b'],
      });
      const without = await client.apply(configMaps, { metadata: ref }, alice);
      expect(without.metadata.labels).toEqual({ b: 'x' });
      expect(without.metadata.finalizers).toEqual(['example.com/b']);
      await client.apply(configMaps, { metadata: ref }, bob);
    });

    test('A12 fields from a patch or a create belong to the writer', async () => {
      const { client, namespace } = world();
      const metadata = { namespace: await namespace(), name: 'one' };
      const created = { metadata, data: { a: '1' } };
      await client.create(configMaps, created, { fieldManager: 'creator' });
      await client.patch(configMaps, metadata, { data: { b: '2' } }, { fieldManager: 'patcher' });
      const wanted = { metadata, data: { a: '9', b: '9' } };
      const error = await refusalOf(client.apply(configMaps, wanted, alice));
      const messages = error.causes.map(({ field, message }) => `${field} ${message}`).toSorted();
      expect(messages[0]).toMatch(/^\.data\.a conflict with "creator"/);
      expect(messages[1]).toMatch(/^\.data\.b conflict with "patcher"/);
    });

    test('A13 a uid in an apply is a precondition', async () => {
      const { client, namespace } = world();
      const { metadata } = await client.apply(widgets, widget(await namespace(), 'one'), alice);
      const { namespace: inside = '', name, uid = '' } = metadata;
      const fenced = (wanted: string) => ({
        metadata: { namespace: inside, name, uid: wanted },
        spec: { color: 'blue' },
      });
      const other = '00000000-0000-4000-8000-000000000000';
      const error = await refusalOf(client.apply(widgets, fenced(other), alice));
      expect(error).toMatchObject({ status: 422, reason: 'Invalid' });
      expect(error.causes.map(({ field }) => field)).toContain('metadata.uid');
      expect((await client.apply(widgets, fenced(uid), alice)).spec.color).toBe('blue');
    });

    test('A14 a uid in an apply keeps a missing object from being created', async () => {
      const { client, namespace } = world();
      const inside = await namespace();
      const uid = '00000000-0000-4000-8000-000000000000';
      const fenced = { metadata: { namespace: inside, name: 'one', uid }, spec: { color: 'red' } };
      expect(isConflict(await refusalOf(client.apply(widgets, fenced, alice)))).toBe(true);
      expect(await client.find(widgets, { namespace: inside, name: 'one' })).toBeUndefined();
    });

    test('A15 an old resourceVersion in an apply is a conflict', async () => {
      const { client, namespace } = world();
      const inside = await namespace();
      const first = await client.apply(widgets, widget(inside, 'one'), alice);
      await client.patch(widgets, first.metadata, { spec: { size: 5 } });
      const { resourceVersion = '' } = first.metadata;
      const fenced = {
        metadata: { namespace: inside, name: 'one', resourceVersion },
        spec: { color: 'blue' },
      };
      expect(isConflict(await refusalOf(client.apply(widgets, fenced, alice)))).toBe(true);
    });

    test('A17 uid and resourceVersion together fence against change, new object and no object', async () => {
      const { client, namespace } = world();
      const inside = await namespace();
      const first = await client.apply(widgets, widget(inside, 'one'), alice);
      const { uid = '', resourceVersion = '' } = first.metadata;
      const metadata = { namespace: inside, name: 'one', uid, resourceVersion };
      const fenced = () => client.apply(widgets, { metadata, spec: { color: 'blue' } }, alice);
      await client.patch(widgets, first.metadata, { spec: { size: 5 } });
      expect(isConflict(await refusalOf(fenced()))).toBe(true);
      await client.delete(widgets, first.metadata);
      expect(isConflict(await refusalOf(fenced()))).toBe(true);
      await client.apply(widgets, widget(inside, 'one'), alice);
      expect(isConflict(await refusalOf(fenced()))).toBe(true);
    });

    test('A18 resourceVersion 1, which no object ever has, means "the object must not exist"', async () => {
      const { client, namespace } = world();
      const ref = { namespace: await namespace(), name: 'one', resourceVersion: '1' };
      const mine = { metadata: ref, type: 'Opaque', data: { a: 'YQ==' } };
      const created = await client.apply(secrets, mine, { ...alice, force: true });
      expect(created).toMatchObject({ type: 'Opaque', data: { a: 'YQ==' } });
      const error = await refusalOf(client.apply(secrets, mine, { ...alice, force: true }));
      expect(isConflict(error)).toBe(true);
    });

    test('A19 a dry run answers as the write would, refuses as the write would, and stores nothing', async () => {
      const { client, namespace } = world();
      const inside = await namespace();
      const dry = { ...alice, dryRun: true };
      const ref = { namespace: inside, name: 'one' };
      const absent = { ...ref, resourceVersion: '1' };
      const created = await client.apply(
        widgets,
        { metadata: absent, spec: { color: 'red' } },
        dry,
      );
      expect(created).toMatchObject({ metadata: { generation: 1 }, spec: { size: 3 } });
      expect(created.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
      expect(await client.find(widgets, ref)).toBeUndefined();
      const live = await client.apply(widgets, widget(inside, 'one', { size: 4 }), alice);
      const changed = await client.apply(widgets, widget(inside, 'one', { size: 5 }), dry);
      expect(changed).toMatchObject({ metadata: { generation: 2 }, spec: { size: 5 } });
      const invalid = await refusalOf(
        client.apply(widgets, widget(inside, 'one', { size: 99 }), dry),
      );
      expect(invalid.causes).toMatchObject([{ field: 'spec.size' }]);
      const conflict = client.apply(widgets, widget(inside, 'one', { size: 6 }), {
        ...bob,
        dryRun: true,
      });
      expect(isConflict(await refusalOf(conflict))).toBe(true);
      expect(await client.get(widgets, ref)).toEqual(live);
    });

    test('A16 only spec changes increase the generation', async () => {
      const { client, namespace } = world();
      const inside = await namespace();
      const created = await client.apply(widgets, widget(inside, 'one'), alice);
      const ref = { namespace: inside, name: 'one' };
      const generation = async () => (await client.get(widgets, ref)).metadata.generation;
      expect(created.metadata.generation).toBe(1);
      await client.patch(widgets, ref, { metadata: { labels: { a: 'b' } } });
      await client.patchStatus(widgets, ref, { status: { phase: 'Ready' } });
      await client.apply(widgets, widget(inside, 'one'), alice);
      expect(await generation()).toBe(1);
      await client.apply(widgets, widget(inside, 'one', { size: 7 }), alice);
      expect(await generation()).toBe(2);
    });
  });
}
