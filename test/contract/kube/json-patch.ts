import { describe, expect, test } from 'vitest';
import { Transport } from '../../../src/kube/client/transport.ts';
import { configMaps } from '../../../src/kube/core-resources.ts';
import { objectPath } from '../../../src/kube/resource.ts';
import { systemClock, systemRandom } from '../../../src/time/clock.ts';
import { refusalOf } from './refusal.ts';
import { widgets } from './widget.ts';
import { type KubeFixture, widget } from './world.ts';

/** JSON patches, as sent by `kubectl patch --type json` in printed next steps. */
export function jsonPatchContract(world: () => KubeFixture): void {
  /** Sends a patch for the object at this path. */
  async function patch(path: string, operations: unknown): Promise<unknown> {
    const limits = { timeoutMs: 30_000, connections: 1 };
    const identity = { clock: systemClock, random: systemRandom, userAgent: 'contract' };
    await using transport = new Transport(world().server.access, { ...limits, ...identity });
    const contentType = 'application/json-patch+json';
    const answer = await transport.call({
      method: 'PATCH',
      path,
      contentType,
      body: operations,
      repeatable: false,
    });
    return answer;
  }

  describe('JSON patches', () => {
    test('J01 a JSON patch carries out its operations in order', async () => {
      const { client, namespace } = world();
      const metadata = {
        namespace: await namespace(),
        name: 'one',
        annotations: { 'a.io/c': '3' },
        finalizers: ['a.io/x', 'a.io/y'],
      };
      await client.create(configMaps, { metadata, data: { a: '1', b: '2' } });
      const path = objectPath(configMaps, metadata);
      const patched = await patch(path, [
        { op: 'test', path: '/data/a', value: '1' },
        { op: 'replace', path: '/data/a', value: '9' },
        { op: 'remove', path: '/data/b' },
        { op: 'copy', from: '/data/a', path: '/data/e' },
        // RFC 6902 requires the member; the API server adds a missing one.
        { op: 'replace', path: '/data/g', value: '7' },
        { op: 'move', from: '/metadata/annotations/a.io~1c', path: '/data/f' },
        { op: 'add', path: '/metadata/finalizers/-', value: 'a.io/z' },
        { op: 'add', path: '/metadata/finalizers/0', value: 'a.io/w' },
        { op: 'remove', path: '/metadata/finalizers/1' },
      ]);
      const expected = {
        data: { a: '9', e: '9', f: '3', g: '7' },
        metadata: { finalizers: ['a.io/w', 'a.io/y', 'a.io/z'] },
      };
      expect(patched).toMatchObject(expected);
      expect(await client.get(configMaps, metadata)).toEqual(patched);
      await patch(path, [{ op: 'remove', path: '/metadata/finalizers' }]);
    });

    test.each([
      ['a test that fails', [{ op: 'test', path: '/data/a', value: '2' }]],
      ['a removal of a missing member', [{ op: 'remove', path: '/data/b' }]],
      ['a missing parent', [{ op: 'add', path: '/binaryData/b', value: 'eA==' }]],
      [
        'an index beyond the list',
        [{ op: 'add', path: '/metadata/finalizers/2', value: 'a.io/y' }],
      ],
    ])('J02 a JSON patch with %s is Invalid and changes nothing', async (_, operations) => {
      const { client, namespace } = world();
      const metadata = { namespace: await namespace(), name: 'one', finalizers: ['a.io/x'] };
      const created = await client.create(configMaps, { metadata, data: { a: '1' } });
      const path = objectPath(configMaps, metadata);
      const first = { op: 'add', path: '/data/c', value: '3' };
      const error = await refusalOf(patch(path, [first, ...operations]));
      expect(error).toMatchObject({ status: 422, reason: 'Invalid' });
      expect(error.message).toContain(
        'the server rejected our request due to an error in our request',
      );
      expect(await client.get(configMaps, metadata)).toEqual(created);
      await client.patch(configMaps, metadata, { metadata: { finalizers: null } });
    });

    test('J03 a JSON patch for a custom object is validated by its schema', async () => {
      const { client, namespace } = world();
      const created = await client.create(widgets, widget(await namespace(), 'one'));
      const path = objectPath(widgets, created.metadata);
      const color = (value: unknown) =>
        patch(path, [{ op: 'replace', path: '/spec/color', value }]);
      expect(await refusalOf(color(7))).toMatchObject({ status: 422, reason: 'Invalid' });
      expect(await color('blue')).toMatchObject({
        metadata: { generation: 2 },
        spec: { color: 'blue' },
      });
    });

    test('J04 a body without a list of operations is a BadRequest', async () => {
      const { client, namespace } = world();
      const metadata = { namespace: await namespace(), name: 'one' };
      await client.create(configMaps, { metadata });
      const error = await refusalOf(patch(objectPath(configMaps, metadata), { data: {} }));
      expect(error).toMatchObject({ status: 400, reason: 'BadRequest' });
    });
  });
}
