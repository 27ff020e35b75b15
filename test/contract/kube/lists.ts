import { describe, expect, test } from 'vitest';
import { secrets } from '../../../src/kube/core-resources.ts';
import { refusalOf } from './refusal.ts';
import type { KubeFixture } from './world.ts';

/** Secrets instead of ConfigMaps: a real server creates a ConfigMap in every namespace. */
export function listsContract(world: () => KubeFixture): void {
  async function filled(names: readonly string[], labels: Record<string, string> = {}) {
    const { client, namespace } = world();
    const inside = await namespace();
    for (const name of names) {
      await client.create(secrets, { metadata: { namespace: inside, name, labels } });
    }
    return inside;
  }

  describe('lists', () => {
    test('L01 a namespaced list has only objects from this namespace, a list over all namespaces has more', async () => {
      const { client } = world();
      const [first, second] = [await filled(['a', 'b']), await filled(['c'])];
      const inFirst = await client.list(secrets, { namespace: first });
      expect(namesOf(inFirst)).toEqual(['a', 'b']);
      const all = await client.listAll(secrets);
      const places = new Set(all.items.map(({ metadata }) => metadata.namespace));
      expect([places.has(first), places.has(second)]).toEqual([true, true]);
    });

    test('L02 items carry apiVersion and kind', async () => {
      const namespace = await filled(['a']);
      const { items } = await world().client.list(secrets, { namespace });
      expect(items).toMatchObject([{ apiVersion: 'v1', kind: 'Secret' }]);
    });

    test('L03 pages have every object once, ordered by name, at a single resourceVersion', async () => {
      const { client } = world();
      const namespace = await filled(['e', 'a', 'd', 'b', 'c']);
      const first = await client.list(secrets, { namespace, limit: 2 });
      const second = await client.list(secrets, {
        namespace,
        limit: 2,
        continue: first.continue,
      });
      const third = await client.list(secrets, {
        namespace,
        limit: 2,
        continue: second.continue,
      });
      expect([first, second, third].map(namesOf)).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
      expect(third.continue).toBeUndefined();
      const versions = [first, second, third].map(({ resourceVersion }) => resourceVersion);
      expect(new Set(versions).size).toBe(1);
    });

    test('L04 later pages show the time of the first page', async () => {
      const { client } = world();
      const namespace = await filled(['a', 'b', 'c', 'd']);
      const first = await client.list(secrets, { namespace, limit: 2 });
      await client.create(secrets, { metadata: { namespace, name: 'ca' } });
      await client.delete(secrets, { namespace, name: 'd' });
      const second = await client.list(secrets, {
        namespace,
        limit: 9,
        continue: first.continue,
      });
      expect(namesOf(second)).toEqual(['c', 'd']);
      expect(namesOf(await client.list(secrets, { namespace }))).toEqual(['a', 'b', 'c', 'ca']);
    });

    test('L05 a continue token that is none is a bad request', async () => {
      const { client, namespace } = world();
      const options = { namespace: await namespace(), limit: 2, continue: 'nonsense' };
      expect(await refusalOf(client.list(secrets, options))).toMatchObject({ status: 400 });
    });

    test('L06 label selectors select', async () => {
      const { client, namespace } = world();
      const inside = await namespace();
      const objects = { a: { app: 'x', tier: 'web' }, b: { app: 'x' }, c: { app: 'y' }, d: {} };
      for (const [name, labels] of Object.entries(objects)) {
        await client.create(secrets, { metadata: { namespace: inside, name, labels } });
      }
      const select = async (labelSelector: string) =>
        namesOf(await client.list(secrets, { namespace: inside, labelSelector }));
      expect(await select('app=x')).toEqual(['a', 'b']);
      expect(await select('app!=x')).toEqual(['c', 'd']);
      expect(await select('app=x,tier=web')).toEqual(['a']);
      expect(await select('app in (x, y)')).toEqual(['a', 'b', 'c']);
      expect(await select('app notin (x)')).toEqual(['c', 'd']);
      expect(await select('app')).toEqual(['a', 'b', 'c']);
      expect(await select('!app')).toEqual(['d']);
    });

    test('L07 a label selector that is none is a bad request', async () => {
      const { client, namespace } = world();
      const options = { namespace: await namespace(), labelSelector: 'app in (' };
      expect(await refusalOf(client.list(secrets, options))).toMatchObject({ status: 400 });
    });

    test('L08 the field selector metadata.name selects a single object', async () => {
      const { client } = world();
      const namespace = await filled(['a', 'b']);
      const options = { namespace, fieldSelector: 'metadata.name=b' };
      expect(namesOf(await client.list(secrets, options))).toEqual(['b']);
    });

    test('L09 a field selector for a field that cannot be selected is a bad request', async () => {
      const { client, namespace } = world();
      const options = { namespace: await namespace(), fieldSelector: 'data.a=1' };
      expect(await refusalOf(client.list(secrets, options))).toMatchObject({ status: 400 });
    });

    test('L10 a list of more objects than a page holds is complete', async () => {
      const { client, namespace } = world();
      const inside = await namespace();
      const names = Array.from({ length: 1_050 }, (_, i) => `n${String(i).padStart(4, '0')}`);
      const left = [...names];
      const fill = async (): Promise<void> => {
        for (let name = left.pop(); name !== undefined; name = left.pop()) {
          await client.create(secrets, { metadata: { namespace: inside, name } });
        }
      };
      await Promise.all(Array.from({ length: 8 }, fill));
      expect(namesOf(await client.listAll(secrets, { namespace: inside }))).toEqual(names);
    });

    test('L11 a watch can start at the resourceVersion of an empty list', async () => {
      const { client, namespace } = world();
      const inside = await namespace();
      const { items, resourceVersion } = await client.list(secrets, { namespace: inside });
      expect(items).toEqual([]);
      expect(resourceVersion).toMatch(/^[1-9]\d*$/);
    });
  });
}

function namesOf({
  items,
}: {
  readonly items: readonly { readonly metadata: { readonly name: string } }[];
}) {
  return items.map(({ metadata }) => metadata.name);
}
