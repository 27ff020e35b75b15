import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { finalizers } from '../../api/names.ts';
import type { OpenstackConfigStatus } from '../../api/openstackconfig.ts';
import { Store as ObjectStore } from '../../kube/cache/store.ts';
import { KubeError } from '../../kube/errors.ts';
import type { ObjectMeta } from '../../kube/object.ts';
import { createFakeClock } from '../../time/fake-clock.ts';
import type { ConfigObject } from '../openstack-config.ts';
import { FakeKube } from '../testing/fake-kube.ts';
import { delivered, type Scene, setScene, spec } from '../testing/scene.ts';
import { createDeletionGuard } from './guard.ts';

const definition = 'openstackconfigs.multinic.example.com';
const consent = 'multinic.io/allow-removals';
const { signal } = new AbortController();

describe('deletion guard for an OpenstackConfig deleted with its namespace or CRD', () => {
  let scene: Scene;

  beforeEach(async () => {
    scene = await setScene();
  });

  afterEach(async () => scene[Symbol.asyncDispose]());

  const expectNicsKept = (): void => {
    expect(scene.viola.removals).toEqual([]);
    expect(scene.object()?.metadata.finalizers).toEqual([finalizers.openstackConfig]);
  };

  it.each([
    ['namespace multinic-system', 'multinic-system'],
    [`the CRD ${definition}`, definition],
  ])('an OpenstackConfig keeps all NICs while %s is being deleted', async (what, name) => {
    await delivered(scene);
    scene.kube.terminating.add(name);
    scene.kube.delete();
    for (let looks = 0; looks < 3; looks++) await scene.look(60_000);
    expectNicsKept();
    expect(scene.ready()).toContain(`False RemovalHeld: ${what} is being deleted; its NICs stay`);
    expect(scene.ready()).toContain(
      'kubectl -n multinic-system annotate openstackconfig osc --overwrite multinic.io/allow-removals=',
    );
    expect(scene.ready()).toContain('remove the finalizer multinic.example.com/cleanup');
    expect(scene.events.filter(({ reason }) => reason === 'RemovalHeld')).toHaveLength(1);
  });

  it('an OpenstackConfig keeps all NICs when its namespace was force-deleted', async () => {
    await delivered(scene);
    scene.kube.missing.add('multinic-system');
    scene.kube.delete();
    await scene.look();
    expectNicsKept();
    expect(scene.ready()).toContain(
      'False RemovalHeld: namespace multinic-system no longer exists',
    );
  });

  it('a new allow-removals value releases the NICs of a deleted namespace, a used value does not', async () => {
    await delivered(scene);
    scene.kube.annotate({ [consent]: 'last year' });
    await scene.look();
    scene.kube.terminating.add('multinic-system');
    scene.kube.delete();
    await scene.look();
    expectNicsKept();
    scene.kube.annotate({ [consent]: 'today' });
    await scene.look();
    expect(scene.viola.removals.toSorted()).toEqual(['worker-1', 'worker-2']);
    expect(scene.ready()).toContain('False Deleting');
    scene.viola.clean();
    await scene.look();
    expect(scene.object()).toBeUndefined();
  });

  it('an allow-removals value set while paused releases the NICs after the deletion', async () => {
    await delivered(scene);
    scene.kube.annotate({ [consent]: 'today', 'multinic.io/paused': 'true' });
    await scene.look();
    scene.kube.terminating.add('multinic-system');
    scene.kube.delete();
    await scene.look();
    expect(scene.viola.removals.toSorted()).toEqual(['worker-1', 'worker-2']);
  });

  it('an OpenstackConfig with deletionPolicy Retain is deleted at once and keeps its NICs', async () => {
    await delivered(scene);
    scene.edit({ settings: { deletionPolicy: 'Retain' } });
    scene.kube.terminating.add('multinic-system');
    scene.kube.delete();
    await scene.look();
    expect(scene.object()).toBeUndefined();
    expect(scene.viola.removals).toEqual([]);
  });

  it('a deletion waits 3 s for further deletions when four OpenstackConfigs exist', async () => {
    await delivered(scene);
    for (const name of ['b', 'c', 'd']) {
      const metadata = { namespace: 'ns', name, uid: name, resourceVersion: '1' };
      scene.kube.configs.upsert({ metadata, spec });
    }
    scene.kube.delete();
    expect(await scene.look()).toBe(3_000);
    expect(scene.viola.removals).toEqual([]);
    await scene.look(3_000);
    expect(scene.viola.removals).toHaveLength(2);
  });

  it('a removal in progress continues after a restart when the namespace is deleted, too', async () => {
    await delivered(scene);
    scene.kube.delete();
    await scene.look();
    scene.kube.terminating.add('multinic-system');
    scene.restart();
    await scene.look();
    expect(scene.ready()).toContain('False Deleting: waits for cleanup on worker-1');
    scene.viola.clean();
    await scene.look(300_000);
    expect(scene.object()).toBeUndefined();
  });

  it('an OpenstackConfig keeps its NICs while its namespace is unreadable, and reports a forbidden read', async () => {
    await delivered(scene);
    scene.kube.delete();
    scene.kube.ownerFailure = new KubeError({ status: 503, reason: '', message: 'down' });
    await expect(scene.look()).rejects.toThrow('down');
    expectNicsKept();
    const message = 'namespaces "multinic-system" is forbidden';
    scene.kube.ownerFailure = new KubeError({ status: 403, reason: 'Forbidden', message });
    await scene.look();
    expectNicsKept();
    expect(scene.ready()).toContain(
      'False Error: the deletion of namespace multinic-system cannot be checked',
    );
    scene.kube.ownerFailure = undefined;
    await scene.look();
    expect(scene.viola.removals).toHaveLength(2);
  });
});

const many = (count: number, all: number) =>
  `${count} of ${all} OpenstackConfigs were deleted within a minute`;

describe('deletion guard for OpenstackConfigs deleted together', () => {
  const clock = createFakeClock();
  const configs = new ObjectStore<ConfigObject>();
  let kube: FakeKube;
  let guard = fresh();

  /** Returns the guard of a newly started process. */
  function fresh() {
    kube = new FakeKube();
    return createDeletionGuard({ client: kube, configs, definition, clock });
  }

  beforeEach(() => {
    configs.replace([]);
    guard = fresh();
  });

  function put(n: number, meta: Partial<ObjectMeta> = {}, status?: OpenstackConfigStatus) {
    const names = { namespace: 'ns', name: `osc-${n}`, uid: `uid-${n}`, resourceVersion: '1' };
    const metadata = { ...names, finalizers: [finalizers.openstackConfig], ...meta };
    const object = { metadata, spec, status: { observedGeneration: 1, ...status } };
    configs.upsert(object);
    return object;
  }

  function remove(n: number, second = 0, status?: OpenstackConfigStatus): ConfigObject {
    const at = new Date(Date.UTC(2026, 0, 1, 1, 0, second));
    return put(n, { deletionTimestamp: at.toISOString(), resourceVersion: '2' }, status);
  }

  /** Returns the guard's decision after the settle time. */
  async function outcome(object: ConfigObject): Promise<string> {
    try {
      const earlyMs = await guard.waitMs(object, signal);
      if (earlyMs === 0) return 'goes';
      await clock.advance(earlyMs);
      return (await guard.waitMs(object, signal)) === 0 ? 'goes' : 'waits';
    } catch (error) {
      return String(error instanceof Error ? error.message : error).split(';')[0] ?? '';
    }
  }

  const among = (all: number) => {
    for (let n = 1; n <= all; n++) put(n);
  };

  it.each([
    [1, 1, 'goes'],
    [3, 3, 'goes'],
    [3, 10, 'goes'],
    [4, 4, many(4, 4)],
    [4, 20, 'goes'],
    [5, 20, many(5, 20)],
  ])('deletion of %i of %i OpenstackConfigs: %s', async (count, all, expected) => {
    among(all);
    const gone = Array.from({ length: count }, (_, at) => remove(at + 1, at));
    expect(await Promise.all(gone.map(outcome))).toEqual(gone.map(() => expected));
  });

  it('the first deletion is blocked when three more of four objects are deleted while it waits', async () => {
    among(4);
    const first = remove(1);
    expect(await guard.waitMs(first, signal)).toBeGreaterThan(0);
    for (const n of [2, 3, 4]) remove(n);
    expect(await outcome(first)).toBe(many(4, 4));
  });

  it('a deletion does not wait when only three OpenstackConfigs exist', async () => {
    among(3);
    expect(await guard.waitMs(remove(1), signal)).toBe(0);
  });

  it('the fourth deletion is blocked when three earlier deletions are complete', async () => {
    among(4);
    for (const n of [1, 2, 3]) {
      const object = remove(n, n);
      expect(await outcome(object)).toBe('goes');
      configs.remove(object);
    }
    expect(await outcome(remove(4, 10))).toBe(many(4, 4));
  });

  it('the fourth deletion is blocked when this process handles it 5 minutes after three complete deletions', async () => {
    among(4);
    for (const n of [1, 2, 3]) {
      const object = remove(n, n);
      expect(await outcome(object)).toBe('goes');
      configs.remove(object);
    }
    await clock.advance(300_000);
    expect(await outcome(remove(4, 10))).toBe(many(4, 4));
  });

  it('an OpenstackConfig recreated and deleted six times counts as one deletion', async () => {
    for (let life = 1; life <= 6; life++) {
      const object = remove(1, life);
      const again = { ...object, metadata: { ...object.metadata, uid: `life-${life}` } };
      configs.upsert(again);
      expect(await outcome(again)).toBe('goes');
      configs.remove(again);
    }
  });

  it('four deletions 61 s apart are not a mass deletion', async () => {
    among(4);
    for (const n of [1, 2, 3, 4]) expect(await outcome(remove(n, n * 61))).toBe('goes');
  });

  it('a deletion with RemovalHeld in its status stays blocked in a new process', async () => {
    const ready = { type: 'Ready', status: 'False', reason: 'RemovalHeld', message: 'of many; …' };
    among(3);
    expect(await outcome(remove(1, 0, { conditions: [ready] as never }))).toBe('of many');
  });

  it('a RemovalHeld status from before the deletion does not block the deletion', async () => {
    const ready = ['Ready', 'Delivered'].map((type) => ({
      type,
      status: 'False',
      reason: 'RemovalHeld',
      message: '11 NICs would be removed at once',
    }));
    among(3);
    expect(await outcome(remove(1, 0, { conditions: ready as never }))).toBe('goes');
  });

  it('deletions with deletionPolicy Retain do not count as mass deletion', async () => {
    among(4);
    for (const n of [1, 2, 3]) {
      const object = remove(n);
      configs.upsert({
        ...object,
        metadata: { ...object.metadata, resourceVersion: '3' },
        spec: { ...spec, settings: { deletionPolicy: 'Retain' } },
      });
    }
    expect(await outcome(remove(4))).toBe('goes');
  });

  it('deletions delayed only by a foreign finalizer do not count as mass deletion', async () => {
    among(4);
    for (const n of [1, 2, 3]) {
      const { metadata, ...rest } = remove(n);
      const others = { ...metadata, finalizers: ['example.com/theirs'], resourceVersion: '3' };
      configs.upsert({ ...rest, metadata: others });
    }
    guard = fresh();
    expect(await outcome(remove(4))).toBe('goes');
  });

  it('a deleted CRD blocks removals only when the operator may read CRDs', async () => {
    kube.terminating.add(definition);
    expect(await outcome(remove(1))).toBe(`the CRD ${definition} is being deleted`);
    guard = createDeletionGuard({ client: kube, configs, definition: undefined, clock });
    expect(await outcome(remove(1))).toBe('goes');
  });
});
