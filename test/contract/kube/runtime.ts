import { describe, expect, test } from 'vitest';
import { createReflector } from '../../../src/kube/cache/reflector.ts';
import { Store } from '../../../src/kube/cache/store.ts';
import { events, leases } from '../../../src/kube/core-resources.ts';
import { createEventRecorder } from '../../../src/kube/events.ts';
import { runWithLease } from '../../../src/kube/lease/lease.ts';
import { refOf } from '../../../src/kube/object.ts';
import { createController, sourceOf } from '../../../src/kube/reconcile/controller.ts';
import { systemClock, systemRandom } from '../../../src/time/clock.ts';
import { eventually } from './eventually.ts';
import { type Widget, widgets } from './widget.ts';
import { type KubeFixture, widget } from './world.ts';

const time = { clock: systemClock, random: systemRandom };
/** A tenth of the production value: successors take over soon. */
const terms = { leaseDurationMs: 3_000, renewDeadlineMs: 2_000, retryPeriodMs: 200 };

export function runtimeContract(world: () => KubeFixture): void {
  describe('runtime', () => {
    test('R01 a reflector lists, follows and forgets', async () => {
      const { client, namespace } = world();
      const inside = await namespace();
      await client.create(widgets, widget(inside, 'before'));
      const store = new Store<Widget>({ indexes: { color: ({ spec }) => [spec.color] } });
      const reflector = createReflector({
        client,
        resource: widgets,
        namespace: inside,
        store,
        ...time,
      });
      const stop = new AbortController();
      const running = reflector.run(stop.signal);
      await reflector.synced;
      expect(store.get(`${inside}/before`)).toBeDefined();
      await client.create(widgets, widget(inside, 'after', { color: 'blue' }));
      await eventually('the new object', () => store.get(`${inside}/after`));
      expect(store.byIndex('color', 'blue')).toHaveLength(1);
      await client.delete(widgets, { namespace: inside, name: 'before' });
      await eventually('the deletion', () => store.get(`${inside}/before`) === undefined);
      expect(store.list().map(({ metadata }) => metadata.managedFields)).toEqual([undefined]);
      stop.abort();
      await running;
      expect(reflector.state).toBe('stopped');
    });

    test('R02 a controller makes every object match the spec', async () => {
      const { client, namespace } = world();
      const inside = await namespace();
      const store = new Store<Widget>();
      const reflector = createReflector({
        client,
        resource: widgets,
        namespace: inside,
        store,
        ...time,
      });
      const controller = createController({
        name: 'contract',
        workers: 2,
        sources: [sourceOf(store)],
        reflectors: [reflector],
        async reconcile(key, signal) {
          const { metadata, spec } = store.get(key) ?? {};
          if (!metadata || !spec) return;
          const status = { phase: `color ${spec.color}` };
          await client.applyStatus(
            widgets,
            { metadata: refOf(key), status },
            { fieldManager: 'contract', signal },
          );
        },
        ...time,
      });
      const stop = new AbortController();
      const running = controller.run(stop.signal);
      for (const name of ['a', 'b', 'c']) await client.create(widgets, widget(inside, name));
      await client.patch(widgets, { namespace: inside, name: 'b' }, { spec: { color: 'green' } });
      const phases = async () => {
        const { items } = await client.list(widgets, { namespace: inside });
        return items.map(({ status }) => status?.phase).join();
      };
      await eventually(
        'all phases',
        async () => (await phases()) === 'color red,color green,color red',
      );
      stop.abort();
      await running;
    });

    test('R03 an event is recorded once in five minutes for an object and reason', async () => {
      const { client, namespace } = world();
      const inside = await namespace();
      const involved = await client.create(widgets, widget(inside, 'one'));
      const errors: unknown[] = [];
      const recorder = createEventRecorder({
        client,
        component: 'contract',
        clock: systemClock,
        onError: (error) => errors.push(error),
      });
      const note = { type: 'Warning', reason: 'Tested', message: 'said once' } as const;
      await recorder.during(new AbortController().signal, async () => {
        recorder.record(involved, note);
        recorder.record(involved, note);
        recorder.record(involved, { ...note, type: 'Normal', reason: 'Other' });
      });
      expect(errors).toEqual([]);
      const { items } = await client.list(events, { namespace: inside });
      expect(items.map(({ reason, count }) => `${reason} ${count}`).toSorted()).toEqual([
        'Other 1',
        'Tested 1',
      ]);
      expect(items.find(({ reason }) => reason === 'Tested')).toMatchObject({
        type: 'Warning',
        message: 'said once',
        source: { component: 'contract' },
        involvedObject: { kind: 'Widget', name: 'one', uid: involved.metadata.uid },
      });
    });

    test('R04 only one of three candidates leads at a time, and the next takes over', async () => {
      const { client, namespace } = world();
      const ref = { namespace: await namespace(), name: 'leader' };
      const leaders: string[] = [];
      let leading = 0;
      let most = 0;
      const campaign = async (identity: string) => {
        const stop = new AbortController();
        await runWithLease(
          { client, ...ref, identity, ...terms, ...time, onOverrun: () => undefined },
          stop.signal,
          async () => {
            most = Math.max(most, ++leading);
            leaders.push(identity);
            await client.version();
            leading--;
          },
        );
      };
      await Promise.all(['a', 'b', 'c'].map(campaign));
      expect(leaders.toSorted()).toEqual(['a', 'b', 'c']);
      expect(most).toBe(1);
      const lease = await client.get(leases, ref);
      expect(lease.spec).toMatchObject({ holderIdentity: '', leaseTransitions: 3 });
    });

    test('R05 a stopped leader releases the lease after all work has ended', async () => {
      const { client, namespace } = world();
      const ref = { namespace: await namespace(), name: 'leader' };
      const holder = async () => (await client.get(leases, ref)).spec?.holderIdentity;
      const stop = new AbortController();
      const atEnd: (string | undefined)[] = [];
      await runWithLease(
        { client, ...ref, identity: 'me', ...time, onOverrun: () => undefined },
        stop.signal,
        async (leading) => {
          stop.abort();
          expect(leading.aborted).toBe(true);
          atEnd.push(await holder());
        },
      );
      expect([...atEnd, await holder()]).toEqual(['me', '']);
    });
  });
}
