import { describe, expect, test } from 'vitest';
import { crds } from '../../../src/kube/core-resources.ts';
import { isInvalid } from '../../../src/kube/errors.ts';
import { refusalOf } from './refusal.ts';
import { widgetCrd, widgets } from './widget.ts';
import { type KubeFixture, widget } from './world.ts';

export function schemasContract(world: () => KubeFixture): void {
  describe('schemas for custom resources', () => {
    test('C01 an accepted CRD has the condition and the accepted names', async () => {
      const { status } = await world().client.get(crds, widgetCrd.metadata);
      expect(status?.acceptedNames).toMatchObject({ kind: 'Widget', plural: 'widgets' });
      const conditions = status?.conditions?.map(
        (condition) => `${condition.type}=${condition.status}`,
      );
      expect(conditions).toEqual(
        expect.arrayContaining(['NamesAccepted=True', 'Established=True']),
      );
    });

    test('C02 defaults are filled in, inside lists too', async () => {
      const { client, namespace } = world();
      const wanted = widget(await namespace(), 'one', { parts: [{ name: 'a' }] });
      const { spec } = await client.create(widgets, wanted);
      expect(spec).toEqual({ color: 'red', size: 3, parts: [{ name: 'a', count: 1 }] });
    });

    test('C03 fields that the schema does not know are dropped', async () => {
      const { client, namespace } = world();
      const metadata = { namespace: await namespace(), name: 'one' };
      const wanted = { metadata, spec: { color: 'red', shape: 'round' }, extra: true };
      const created = await client.create(widgets, wanted);
      expect(created.spec).toEqual({ color: 'red', size: 3 });
      expect(created).not.toHaveProperty('extra');
    });

    test.each([
      { id: 'C04', what: 'a value outside its enum', spec: { color: 'pink' }, field: 'spec.color' },
      {
        id: 'C05',
        what: 'a number that is too large',
        spec: { color: 'red', size: 11 },
        field: 'spec.size',
      },
      {
        id: 'C06',
        what: 'a text that does not match',
        spec: { color: 'red', code: 'A1' },
        field: 'spec.code',
      },
      {
        id: 'C07',
        what: 'a text that is too long',
        spec: { color: 'red', code: 'abcdefghi' },
        field: 'spec.code',
      },
      {
        id: 'C08',
        what: 'a required field that is missing',
        spec: { size: 4 },
        field: 'spec.color',
      },
      {
        id: 'C09',
        what: 'a required field that is missing in an item',
        spec: { color: 'red', parts: [{ count: 2 }] },
        field: 'spec.parts[0].name',
      },
    ])('$id $what is Invalid and the cause names the field', async ({ spec, field }) => {
      const { client, namespace } = world();
      const metadata = { namespace: await namespace(), name: 'one' };
      const error = await refusalOf(client.create(widgets, { metadata, spec }));
      expect(isInvalid(error)).toBe(true);
      expect(error.causes.map((cause) => cause.field)).toContain(field);
    });

    test('C10 a value with a wrong type is Invalid, and the cause names the field', async () => {
      const { client, namespace } = world();
      const metadata = { namespace: await namespace(), name: 'one' };
      await client.create(widgets, { metadata, spec: { color: 'red' } });
      const patch = { spec: { size: 'large' } };
      const error = await refusalOf(client.patch(widgets, metadata, patch));
      expect(isInvalid(error)).toBe(true);
      expect(error.causes.map((cause) => cause.field)).toContain('spec.size');
    });

    test('C11 two items with one key in a map list are Invalid', async () => {
      const { client, namespace } = world();
      const wanted = widget(await namespace(), 'one', { parts: [{ name: 'a' }, { name: 'a' }] });
      const error = await refusalOf(client.create(widgets, wanted));
      expect(isInvalid(error)).toBe(true);
      expect(error.causes.map((cause) => cause.field)).toContain('spec.parts[1]');
    });

    test('C12 an Invalid patch changes nothing', async () => {
      const { client, namespace } = world();
      const created = await client.create(widgets, widget(await namespace(), 'one'));
      const patch = { spec: { color: 'pink', size: 4 } };
      expect(isInvalid(await refusalOf(client.patch(widgets, created.metadata, patch)))).toBe(true);
      expect(await client.get(widgets, created.metadata)).toEqual(created);
    });

    test('C13 the schema also validates the status', async () => {
      const { client, namespace } = world();
      const { metadata } = await client.create(widgets, widget(await namespace(), 'one'));
      const patch = { status: { phase: 'Ready', conditions: [{ type: 'A' }] } };
      const error = await refusalOf(client.patchStatus(widgets, metadata, patch));
      expect(isInvalid(error)).toBe(true);
      expect(error.causes.map((cause) => cause.field)).toContain('status.conditions[0].status');
    });
  });
}
