import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { finalizers } from '../../../api/names.ts';
import type { OpenstackConfigSettings } from '../../../api/openstackconfig.ts';
import { Store as ObjectStore } from '../../../kube/cache/store.ts';
import { KubeError } from '../../../kube/errors.ts';
import type { ObjectMeta } from '../../../kube/object.ts';
import { entry, existingNode } from '../../../plan/sample.ts';
import { createFakeClock } from '../../../time/fake-clock.ts';
import type { ConfigObject } from '../../model/openstack-config.ts';
import { FakeKube } from '../../testing/fake-kube.ts';
import { attach, delivered, type Scene, serverIds, setScene, spec } from '../../testing/scene.ts';
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
    expect(scene.ready()).toContain(
      `False RemovalHeld: SideEffect: ${what} is being deleted; the NICs stay`,
    );
    expect(scene.ready()).toContain(
      'kubectl -n multinic-system annotate openstackconfig osc --overwrite multinic.io/allow-removals=',
    );
    expect(scene.ready()).toContain(
      'while this OpenstackConfig has the finalizer multinic.example.com/cleanup',
    );
    expect(scene.ready()).toContain('"deletionPolicy":"Retain"');
    expect(scene.events.filter(({ reason }) => reason === 'RemovalHeld')).toHaveLength(1);
  });

  it('an OpenstackConfig keeps all NICs when its namespace was force-deleted', async () => {
    await delivered(scene);
    scene.kube.missing.add('multinic-system');
    scene.kube.delete();
    await scene.look();
    expectNicsKept();
    expect(scene.ready()).toContain(
      'False RemovalHeld: SideEffect: namespace multinic-system no longer exists',
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

  it('an allow-removals value set before the deletion releases no NIC', async () => {
    await delivered(scene);
    scene.kube.annotate({ [consent]: 'today', 'multinic.io/paused': 'true' });
    await scene.look();
    scene.kube.terminating.add('multinic-system');
    scene.kube.delete();
    await scene.look();
    await scene.look();
    expectNicsKept();
    scene.kube.annotate({ [consent]: 'after the deletion' });
    await scene.look();
    expect(scene.viola.bases.toSorted()).toEqual(['worker-1 consent', 'worker-2 consent']);
  });

  it('deletionPolicy Delete is no consent to the deletion of a namespace', async () => {
    await delivered(scene);
    scene.edit({ settings: { deletionPolicy: 'Delete' } });
    scene.kube.terminating.add('multinic-system');
    scene.kube.delete();
    await scene.look();
    expectNicsKept();
    expect(scene.ready()).toContain('False RemovalHeld: SideEffect: namespace multinic-system');
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

  it('a deletion waits 3 s for further deletions when another OpenstackConfig exists', async () => {
    await delivered(scene);
    const metadata = { namespace: 'ns', name: 'b', uid: 'b', resourceVersion: '1' };
    scene.kube.configs.upsert({ metadata, spec });
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

  it('a consent releases the NICs while the operator may not read the namespace', async () => {
    await delivered(scene);
    scene.kube.delete();
    const message = 'namespaces "multinic-system" is forbidden';
    scene.kube.ownerFailure = new KubeError({ status: 403, reason: 'Forbidden', message });
    await scene.look();
    expectNicsKept();
    expect(scene.ready()).toContain('grant the operator "get" on namespace multinic-system; the');
    scene.kube.annotate({ [consent]: 'yes' });
    await scene.look();
    expect(scene.viola.bases.toSorted()).toEqual(['worker-1 consent', 'worker-2 consent']);
  });
});

describe('budget of a deleted OpenstackConfig', () => {
  let scene: Scene;

  beforeEach(async () => {
    scene = await setScene();
  });

  afterEach(async () => scene[Symbol.asyncDispose]());

  /** Delivers NICs to three nodes, at most ten each. */
  async function deliver(nics: number, settings?: OpenstackConfigSettings): Promise<void> {
    for (let n = 1; n <= nics; n++) attach(scene.cloud, n, Math.ceil(n / 10));
    scene.create({ vmNames: serverIds, ...(settings && { settings }) });
    await scene.look();
  }

  const overBudget =
    'False RemovalHeld: OverBudget: 11 of 11 NICs in the business cluster would be removed within an hour, more than the 10 that need no consent; the NICs stay while this OpenstackConfig has the finalizer';

  it('10 NICs leave with basis named, recorded before the first DELETE', async () => {
    await deliver(10);
    scene.kube.delete();
    await scene.look();
    expect(scene.viola.bases).toEqual(['worker-1 named']);
    expect(scene.status().removals).toMatchObject([{ nics: 10, nodes: 1 }]);
    expect(scene.status().summary).toMatchObject({ interfaces: 0, nodes: 0 });
  });

  it('[N6] 11 NICs stay until allow-removals has a new value, and then leave with basis consent', async () => {
    await deliver(11);
    scene.kube.delete();
    await scene.look();
    for (let looks = 0; looks < 2; looks++) {
      scene.restart();
      await scene.look(3_600_000);
      expect(scene.viola.removals).toEqual([]);
      expect(scene.ready()).toContain(overBudget);
    }
    scene.kube.annotate({ [consent]: 'yes' });
    await scene.look();
    expect(scene.viola.bases.toSorted()).toEqual(['worker-1 consent', 'worker-2 consent']);
    expect(scene.status().lastHandledAllowRemovals).toBe('yes');
    expect(scene.status().removals).toBeUndefined();
  });

  it.each([
    ['Delete', ['worker-1 consent', 'worker-2 consent']],
    ['Retain', []],
  ] as const)('11 NICs do not wait with deletionPolicy %s', async (deletionPolicy, bases) => {
    await deliver(11, { deletionPolicy });
    scene.kube.delete();
    await scene.look();
    expect(scene.viola.bases.toSorted()).toEqual(bases);
    expect(scene.object() === undefined).toBe(deletionPolicy === 'Retain');
  });

  it('a held deletion goes on when deletionPolicy becomes Delete', async () => {
    await deliver(11);
    scene.kube.delete();
    await scene.look();
    scene.edit({ vmNames: serverIds, settings: { deletionPolicy: 'Delete' } });
    await scene.look();
    expect(scene.viola.bases.toSorted()).toEqual(['worker-1 consent', 'worker-2 consent']);
  });

  it('a deletion counts with the removals of the last hour', async () => {
    await deliver(11);
    scene.edit({ vmNames: serverIds.slice(0, 1) });
    await scene.look();
    expect(scene.viola.bases).toEqual(['worker-2 named']);
    scene.viola.clean();
    scene.restart();
    scene.kube.delete();
    await scene.look();
    expect(scene.viola.bases).toEqual(['worker-2 named']);
    expect(scene.ready()).toContain(overBudget);
  });

  it('a released deletion continues after a failed DELETE and a restart', async () => {
    await deliver(10);
    scene.kube.delete();
    scene.killAt(scene.effects.length + 2, new Error('killed'));
    await expect(scene.look()).rejects.toThrow('killed');
    scene.restart();
    scene.viola.fail(503);
    await scene.look();
    expect(scene.ready()).toContain('False ViolaPostError');
    scene.viola.outage = undefined;
    scene.restart();
    await scene.look();
    expect(scene.viola.bases).toEqual(['worker-1 named']);
    expect(scene.status().removals).toHaveLength(1);
  });

  it('NICs kept by a controller are reported with code and next steps, and released once by consent', async () => {
    await deliver(10);
    scene.kube.delete();
    await scene.look();
    const node = scene.viola.nodes.get('worker-1') ?? expect.fail('worker-1 was delivered');
    const conditions = [{ type: 'Ready', status: 'False', reason: 'RemovalHeld' } as const];
    const heldRemovals = { code: 'OverBudget', macs: ['fa:16:3e:00:00:01'] };
    scene.viola.put({ ...node, status: { conditions, heldRemovals } });
    await scene.look();
    expect(scene.ready()).toContain(
      'False RemovalHeld: node worker-1: its MultiNicNodeConfig is being deleted, and the controller keeps 1 NIC (OverBudget); the NICs stay while this OpenstackConfig has the finalizer',
    );
    expect(scene.viola.bases).toEqual(['worker-1 named']);
    scene.kube.annotate({ [consent]: 'yes' });
    for (let looks = 0; looks < 3; looks++) await scene.look();
    expect(scene.viola.bases).toEqual(['worker-1 named', 'worker-1 consent']);
  });
});

function policy(deletionPolicy: 'Delete' | 'Retain') {
  return { spec: { ...spec, settings: { deletionPolicy } } };
}

describe('budget of OpenstackConfigs deleted together', () => {
  const clock = createFakeClock();
  const configs = new ObjectStore<ConfigObject>();
  const settings = { defaultK8sProviderId: undefined, deletionDelay: 0 };
  const memories = { find: () => undefined };
  let kube: FakeKube;
  let guard = fresh();

  /** Returns the guard of a newly started process. */
  function fresh() {
    kube = new FakeKube();
    return createDeletionGuard({ client: kube, configs, memories, settings, definition, clock });
  }

  beforeEach(() => {
    configs.replace([]);
    guard = fresh();
  });

  /** Stores an OpenstackConfig with six NICs on one node. */
  function put(n: number, change: Partial<ConfigObject> = {}, meta: Partial<ObjectMeta> = {}) {
    const names = { namespace: 'ns', name: `osc-${n}`, uid: `uid-${n}`, resourceVersion: '1' };
    const metadata = { ...names, finalizers: [finalizers.openstackConfig], ...meta };
    const status = { observedGeneration: 1, summary: { interfaces: 6, nodes: 1 } };
    const object = { metadata, spec, status, ...change };
    configs.upsert(object);
    return object;
  }

  const sixNics = {
    node: existingNode(
      1,
      [1, 2, 3, 4, 5, 6].map((n) => entry(n, n)),
    ),
    cluster: 'biz-1',
  };
  const removal = { deletionTimestamp: '2026-01-01T01:00:00Z', resourceVersion: '2' };

  /** Returns the guard's decision after the settle time. */
  async function outcome(object: ConfigObject): Promise<string> {
    try {
      const earlyMs = await guard.waitMs(object, signal);
      await clock.advance(earlyMs);
      const hold = guard.checkBudgets(object, [sixNics]);
      return hold?.message.split(',')[0] ?? 'goes';
    } catch (error) {
      return String(error instanceof Error ? error.message : error).split(',')[0] ?? '';
    }
  }

  const over = 'OverBudget: 12 of 12 NICs in the business cluster would be removed within an hour';
  const ready = { type: 'Ready', status: 'False', reason: 'Deleting', message: '' };
  const released = {
    observedGeneration: 1,
    summary: { interfaces: 0, nodes: 0 },
    withdrawal: { uid: 'uid-2', generation: 0 },
    removals: [{ at: '2026-01-01T00:00:00Z', nics: 6, nodes: 1 }],
  };
  const credentials = { ...spec.credentials, k8sProviderID: 'biz-2' };

  it.each<
    [what: string, expected: string, change: Partial<ConfigObject>, meta: Partial<ObjectMeta>]
  >([
    ['is deleted, too', over, {}, removal],
    ['is not deleted', 'goes', {}, {}],
    ['was released within the hour', over, { status: released }, removal],
    ['has deletionPolicy Delete', 'goes', policy('Delete'), removal],
    ['has deletionPolicy Retain', 'goes', policy('Retain'), removal],
    ['is in another business cluster', 'goes', { spec: { ...spec, credentials } }, removal],
    ['waits only for a foreign finalizer', 'goes', {}, { ...removal, finalizers: ['a.test/b'] }],
    [
      'is removed with consent already',
      'goes',
      { status: { conditions: [ready], summary: { interfaces: 6, nodes: 1 } } },
      removal,
    ],
  ])(
    'the deletion of 6 NICs beside 6 NICs of an OpenstackConfig that %s: %s',
    async (_, expected, change, meta) => {
      put(2, change, meta);
      expect(await outcome(put(1, {}, removal))).toBe(expected);
    },
  );

  it('a held deletion stays held in a new process', async () => {
    const message = 'OverBudget: 12 of 12 NICs, …';
    const status = { conditions: [{ ...ready, reason: 'RemovalHeld', message }] };
    expect(await outcome(put(1, { status }, removal))).toBe('OverBudget: 12 of 12 NICs');
  });

  it('a RemovalHeld status from before the deletion does not hold the deletion', async () => {
    const held = { ...ready, reason: 'RemovalHeld', message: 'OverBudget: …' };
    const status = { conditions: [held, { ...held, type: 'Delivered' }] };
    expect(await outcome(put(1, { status }, removal))).toBe('goes');
  });

  it('an unreadable status.removals holds the deletion', async () => {
    const status = { removals: [{ nics: 'many' }] };
    expect(await outcome(put(1, { status }, removal))).toBe(
      'OverBudget: status.removals cannot be read',
    );
  });

  it('a deleted CRD blocks removals only when the operator may read CRDs', async () => {
    kube.terminating.add(definition);
    const object = put(1, {}, removal);
    expect(await outcome(object)).toContain(`SideEffect: the CRD ${definition} is being deleted`);
    const deps = { client: kube, configs, memories, settings, clock };
    guard = createDeletionGuard({ ...deps, definition: undefined });
    expect(await outcome(object)).toBe('goes');
  });
});
