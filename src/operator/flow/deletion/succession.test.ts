import { afterEach, describe, expect, it } from 'vitest';
import type { OpenstackConfigSpec } from '../../../api/openstackconfig.ts';
import {
  attach,
  delivered,
  environment,
  type Scene,
  serverIds,
  setScene,
} from '../../testing/scene.ts';

let scene: Scene;

afterEach(async () => scene[Symbol.asyncDispose]());

const former = { namespace: 'multinic-system', name: 'osc' };
const successor = { namespace: 'team-b', name: 'renamed', uid: 'renamed-uid' };
const successorKey = `${successor.namespace}/${successor.name}`;

async function twoNodes(): Promise<void> {
  scene = await setScene({ ...environment, DELETION_DELAY: '30s' });
  await delivered(scene);
}

function create(change: Partial<OpenstackConfigSpec> = {}): void {
  scene.create(change, successor);
}

/** Reconciles both objects, as the loop does after each deletion. */
async function settle(afterMs = 0): Promise<void> {
  await scene.reconcile(afterMs);
  await scene.lookAt(successorKey);
  await scene.reconcile(0);
}

const owners = () => [...scene.viola.nodes.values()].map(({ source }) => source?.name);
const generations = () => [...scene.viola.nodes.values()].map(({ generation }) => generation);

describe('OpenstackConfig renamed in git', () => {
  it.each<[string, () => Promise<void>]>([
    [
      'create, then prune',
      async () => {
        create();
        await scene.lookAt(successorKey);
        expect(owners()).toEqual(['osc', 'osc']);
        scene.kube.delete(former);
      },
    ],
    [
      'prune, then create',
      async () => {
        scene.kube.delete(former);
        await scene.reconcile(0);
        create();
      },
    ],
    [
      'prune, then create after a restart of the operator',
      async () => {
        scene.kube.delete(former);
        await scene.reconcile(20_000);
        scene.restart({ ...environment, DELETION_DELAY: '30s' });
        create();
      },
    ],
    [
      'prune with Retain, then create',
      async () => {
        scene.edit({ settings: { deletionPolicy: 'Retain' } });
        scene.kube.delete(former);
        await scene.reconcile(0);
        expect(scene.object()).toBeUndefined();
        create();
      },
    ],
    [
      'prune while the namespace is deleted, then create',
      async () => {
        scene.kube.terminating.add('multinic-system');
        scene.kube.delete(former);
        await scene.reconcile(300_000);
        expect(scene.ready()).toContain('RemovalHeld');
        create();
      },
    ],
  ])('keeps every NIC: %s', async (_, change) => {
    await twoNodes();
    const before = generations();
    const posts = scene.viola.posts.flat().length;
    await change();
    await settle();
    await settle(60_000);
    await settle(60_000);
    expect(owners()).toEqual(['renamed', 'renamed']);
    expect(generations()).toEqual(before);
    expect(scene.viola.posts.flat()).toHaveLength(posts + 2);
    expect(scene.viola.removals).toEqual([]);
    expect(scene.object()).toBeUndefined();
    const rows = await scene.store.list();
    expect(rows.map(({ nodeName }) => nodeName).toSorted()).toEqual(['worker-1', 'worker-2']);
  });

  it('a node with a NIC without address is taken over, and the NIC stays', async () => {
    await twoNodes();
    scene.cloud.ports = scene.cloud.ports.map((port) => ({ ...port, fixedIps: [] }));
    scene.kube.delete(former);
    await scene.reconcile(0);
    create();
    await settle();
    await settle(60_000);
    expect([owners(), scene.viola.removals]).toEqual([['renamed', 'renamed'], []]);
  });

  it('the next sync follows ports changed meanwhile', async () => {
    await twoNodes();
    scene.kube.delete(former);
    await scene.reconcile(0);
    attach(scene.cloud, 3, 1);
    create();
    await settle();
    expect([owners(), scene.nics('worker-1')]).toEqual([['renamed', 'renamed'], ['multinic0=p1']]);
    await scene.clock.advance(30_000);
    await scene.lookAt(successorKey);
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1', 'multinic1=p3']);
  });
});

describe('deleted OpenstackConfig', () => {
  it('Ready names the way to keep NICs for 30 seconds, and NICs stay with Retain', async () => {
    await twoNodes();
    scene.kube.delete(former);
    expect(await scene.reconcile(0)).toBe(5_000);
    expect(scene.ready()).toMatch(/^False DeletionDelayed: .*deletionPolicy":"Retain"/);
    expect(scene.condition('Degraded')).toMatchObject({ status: 'False' });
    await scene.reconcile(29_000);
    expect(scene.viola.removals).toEqual([]);
    scene.edit({ settings: { deletionPolicy: 'Retain' } });
    await scene.reconcile(2_000);
    expect([scene.viola.removals, scene.object()]).toEqual([[], undefined]);
  });

  it.each<[string, () => void]>([
    [
      'while Neutron fails',
      () => {
        create();
        scene.cloud.fail('portsOf', 'serverError');
      },
    ],
    [
      'while Nova fails',
      () => {
        create();
        scene.cloud.fail('servers', 'serverError');
      },
    ],
    [
      'while Viola refuses its nodes',
      () => {
        create();
        for (const name of ['worker-1', 'worker-2']) scene.viola.refused.set(name, 'FieldConflict');
      },
    ],
    ['with an invalid spec', () => create({ subnetIDs: [] })],
    [
      'while paused',
      () => {
        create();
        scene.kube.annotate({ 'multinic.io/paused': 'true' }, successor);
      },
    ],
    [
      'under manual triggers',
      () => {
        create();
        scene.trigger('{mode: manual, immediateOnCRChange: false}');
      },
    ],
    [
      'with deletionPolicy Delete, while Nova fails',
      () => {
        scene.edit({ settings: { deletionPolicy: 'Delete' } });
        create();
        scene.cloud.fail('servers', 'serverError');
      },
    ],
  ])('NICs wait for a successor %s, then for consent', async (_, change) => {
    await twoNodes();
    scene.kube.delete(former);
    await scene.reconcile(0);
    change();
    await settle(40_000);
    await settle(200_000);
    expect([scene.viola.removals, scene.ready()]).toEqual([
      [],
      expect.stringContaining('DeletionDelayed'),
    ]);
    await settle(300_000);
    await settle(3_600_000);
    expect(scene.viola.removals).toEqual([]);
    expect(scene.ready()).toMatch(/^False RemovalHeld: .*team-b\/renamed/);
    scene.kube.annotate({ 'multinic.io/allow-removals': 'now' });
    await settle(60_000);
    expect(scene.viola.removals.toSorted()).toEqual(['worker-1', 'worker-2']);
  });

  it('goes before the delay ends when a successor has taken over the last node', async () => {
    await twoNodes();
    scene.kube.delete(former);
    await scene.reconcile(0);
    create();
    await scene.lookAt(successorKey);
    await scene.reconcile(5_000);
    expect(scene.object()).toBeUndefined();
  });

  it('consent in the delay covers no NIC', async () => {
    await twoNodes();
    scene.kube.delete(former);
    await scene.reconcile(0);
    scene.kube.annotate({ 'multinic.io/allow-removals': 'now' });
    await scene.reconcile(5_000);
    expect(scene.viola.removals).toEqual([]);
  });

  it.each<[string, () => void]>([
    [
      'a different Keystone host',
      () => {
        scene.cloud.host = 'keystone.stranger.test:443';
        create();
      },
    ],
    ['other subnets', () => create({ subnetIDs: ['sub-b'] })],
    ['other servers', () => create({ vmNames: serverIds.slice(2) })],
    [
      'sources by earlier operators, without cluster and cloud',
      () => {
        for (const node of scene.viola.nodes.values()) {
          const source = { ...former, uid: 'cr-uid', generation: 1 };
          scene.viola.put({ ...node, source });
        }
        create();
      },
    ],
  ])('NICs leave beside OpenstackConfigs with %s', async (_, change) => {
    await twoNodes();
    scene.kube.delete(former);
    await scene.reconcile(0);
    change();
    await settle();
    await settle(31_000);
    expect(owners()).toEqual(['osc', 'osc']);
    expect(scene.viola.removals.toSorted()).toEqual(['worker-1', 'worker-2']);
  });

  it('a node taken over after the list was read stays untouched', async () => {
    await twoNodes();
    scene.kube.delete(former);
    await scene.reconcile(0);
    const list = scene.viola.list.bind(scene.viola);
    scene.viola.list = async (query) => {
      const listed = await list(query);
      for (const node of scene.viola.nodes.values()) {
        const source = { ...successor, generation: 1 };
        if (query.fresh) scene.viola.put({ ...node, source });
      }
      return listed;
    };
    await scene.reconcile(31_000);
    expect([...scene.viola.nodes.values()].map((node) => node.deletionTimestamp)).toEqual([
      undefined,
      undefined,
    ]);
  });
});
