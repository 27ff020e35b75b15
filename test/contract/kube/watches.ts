import { describe, expect, test } from 'vitest';
import { isNewer } from '../../../src/kube/cache/resource-version.ts';
import type { KubeClient, WatchEvent, WatchOptions } from '../../../src/kube/client/client.ts';
import { isGone } from '../../../src/kube/errors.ts';
import { refusalOf } from './refusal.ts';
import { type Widget, widgets } from './widget.ts';
import { type KubeFixture, widget } from './world.ts';

export function watchesContract(world: () => KubeFixture): void {
  async function start() {
    const { client, namespace } = world();
    const inside = await namespace();
    const { resourceVersion } = await client.list(widgets, { namespace: inside });
    return { client, namespace: inside, resourceVersion };
  }

  describe('watches', () => {
    test('W01 a watch from a list sees what happens afterwards, in order', async () => {
      const { client, ...from } = await start();
      const seen = take(client, from, 3);
      const { metadata } = await client.create(widgets, widget(from.namespace, 'one'));
      await client.patch(widgets, metadata, { spec: { size: 4 } });
      await client.delete(widgets, metadata);
      expect((await seen).map(describeEvent)).toEqual([
        'ADDED one 3',
        'MODIFIED one 4',
        'DELETED one 4',
      ]);
    });

    test('W02 a watch from an older version replays missed events', async () => {
      const { client, ...from } = await start();
      for (const name of ['a', 'b']) await client.create(widgets, widget(from.namespace, name));
      await client.delete(widgets, { namespace: from.namespace, name: 'a' });
      const seen = await take(client, from, 3);
      expect(seen.map(describeEvent)).toEqual(['ADDED a 3', 'ADDED b 3', 'DELETED a 3']);
    });

    test('W03 event versions only grow, also for deletions', async () => {
      const { client, ...from } = await start();
      const { metadata } = await client.create(widgets, widget(from.namespace, 'one'));
      await client.patch(widgets, metadata, { spec: { size: 4 } });
      await client.delete(widgets, metadata);
      const versions = (await take(client, from, 3)).map(
        ({ object }) => object.metadata.resourceVersion,
      );
      expect(isNewer(versions[0], from.resourceVersion)).toBe(true);
      expect(isNewer(versions[1], versions[0])).toBe(true);
      expect(isNewer(versions[2], versions[1])).toBe(true);
    });

    test('W04 a namespaced watch sees only this namespace, a watch over all namespaces sees all', async () => {
      const { client, ...from } = await start();
      const other = await world().namespace();
      await client.create(widgets, widget(other, 'far'));
      await client.create(widgets, widget(from.namespace, 'near'));
      expect((await take(client, from, 1)).map(describeEvent)).toEqual(['ADDED near 3']);
      const everywhere = { resourceVersion: from.resourceVersion };
      expect((await take(client, everywhere, 2)).map(describeEvent)).toEqual([
        'ADDED far 3',
        'ADDED near 3',
      ]);
    });

    test('W05 an object is DELETED when the label is removed and ADDED when the label is set', async () => {
      const { client, ...from } = await start();
      const { metadata } = await client.create(widgets, widget(from.namespace, 'one'));
      await client.patch(widgets, metadata, { metadata: { labels: { app: 'x' } } });
      await client.patch(widgets, metadata, { spec: { size: 4 } });
      await client.patch(widgets, metadata, { metadata: { labels: { app: null } } });
      const seen = await take(client, { ...from, labelSelector: 'app=x' }, 3);
      expect(seen.map(({ type }) => type)).toEqual(['ADDED', 'MODIFIED', 'DELETED']);
      expect(isNewer(versionOf(seen[2]), versionOf(seen[1]))).toBe(true);
    });

    test('W06 the field selector metadata.name watches a single object', async () => {
      const { client, ...from } = await start();
      for (const name of ['a', 'b']) await client.create(widgets, widget(from.namespace, name));
      const seen = await take(client, { ...from, fieldSelector: 'metadata.name=b' }, 1);
      expect(seen.map(describeEvent)).toEqual(['ADDED b 3']);
    });

    test('W07 a status change is MODIFIED', async () => {
      const { client, ...from } = await start();
      const { metadata } = await client.create(widgets, widget(from.namespace, 'one'));
      await client.patchStatus(widgets, metadata, { status: { phase: 'Ready' } });
      const [, modified] = await take(client, from, 2);
      expect(modified).toMatchObject({ type: 'MODIFIED', object: { status: { phase: 'Ready' } } });
    });

    test('W08 a write without changes is no event', async () => {
      const { client, ...from } = await start();
      const { metadata } = await client.create(widgets, widget(from.namespace, 'one'));
      await client.patch(widgets, metadata, { spec: { color: 'red' } });
      await client.create(widgets, widget(from.namespace, 'two'));
      expect((await take(client, from, 2)).map(describeEvent)).toEqual([
        'ADDED one 3',
        'ADDED two 3',
      ]);
    });

    test('W09 a deletion that waits for a finalizer is MODIFIED first', async () => {
      const { client, ...from } = await start();
      const { metadata, spec } = widget(from.namespace, 'one');
      const finalizers = ['example.com/wait'];
      await client.create(widgets, { metadata: { ...metadata, finalizers }, spec });
      await client.delete(widgets, metadata);
      await client.patch(widgets, metadata, { metadata: { finalizers: null } });
      const seen = await take(client, from, 3);
      expect(seen.map(({ type }) => type)).toEqual(['ADDED', 'MODIFIED', 'DELETED']);
      expect(seen[1]?.object.metadata.deletionTimestamp).toBeDefined();
    });

    test('W10 a compacted version is Gone', async () => {
      const { client, namespace } = await start();
      const error = await refusalOf(take(client, { namespace, resourceVersion: '1' }, 1));
      expect(isGone(error)).toBe(true);
      expect(error.reason).toBe('Expired');
    });

    test('W11 the server ends a watch after the time limit, with a fresh bookmark', async () => {
      const { client, ...from } = await start();
      const elsewhere = await world().namespace();
      const far: (string | undefined)[] = [];
      const bookmarks: string[] = [];
      await client.create(widgets, widget(from.namespace, 'near'));
      for await (const event of client.watch(widgets, { ...from, timeoutSeconds: 4 })) {
        if (event.type === 'BOOKMARK') bookmarks.push(event.resourceVersion);
        else
          far.push(
            (await client.create(widgets, widget(elsewhere, 'far'))).metadata.resourceVersion,
          );
      }
      const [reached] = bookmarks.slice(-1);
      expect(far).toHaveLength(1);
      expect(reached).toBeDefined();
      expect(isNewer(far[0], reached)).toBe(false);
    });

    test('W12 a watch ends at once when its signal aborts', async () => {
      const { client, ...from } = await start();
      const stop = new AbortController();
      const reason = new Error('enough');
      await client.create(widgets, widget(from.namespace, 'one'));
      const follow = async () => {
        for await (const _ of client.watch(widgets, { ...from, signal: stop.signal }))
          stop.abort(reason);
      };
      await expect(follow()).rejects.toBe(reason);
    });
  });
}

type ObjectEvent = Exclude<WatchEvent<Widget>, { type: 'BOOKMARK' }>;

/** The first events in a watch, without bookmarks. */
async function take(
  client: KubeClient,
  options: WatchOptions,
  count: number,
): Promise<readonly ObjectEvent[]> {
  const seen: ObjectEvent[] = [];
  for await (const event of client.watch(widgets, { timeoutSeconds: 60, ...options })) {
    if (event.type !== 'BOOKMARK') seen.push(event);
    if (seen.length === count) break;
  }
  return seen;
}

function describeEvent({ type, object }: ObjectEvent): string {
  return `${type} ${object.metadata.name} ${object.spec.size}`;
}

function versionOf(event: ObjectEvent | undefined): string | undefined {
  return event?.object.metadata.resourceVersion;
}
