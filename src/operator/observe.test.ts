import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { OpenstackConfigSpec } from '../api/openstackconfig.ts';
import { RequestError } from '../requests/request-error.ts';
import { behindGate } from './clusters/deliver/observe-gate.ts';
import type { ViolaClient } from './clusters/deliver/viola-client.ts';
import { FakeViola } from './testing/fake-viola.ts';
import {
  attach,
  delivered,
  detach,
  type Scene,
  serverIds,
  setScene,
  spec,
} from './testing/scene.ts';

const { signal } = new AbortController();

let scene: Scene;

beforeEach(async () => {
  scene = await setScene();
});

afterEach(async () => {
  await scene[Symbol.asyncDispose]();
});

const observed: Partial<OpenstackConfigSpec> = { settings: { mode: 'Observe' } };
const shown = (type: string) => {
  const { status, reason, message } = scene.condition(type) ?? {};
  return `${status} ${reason}: ${message}`;
};
/** Returns the nodes' modes in each POST since `from`. */
const posted = (from = 0) =>
  scene.viola.posts.slice(from).map((nodes) => nodes.map(({ mode }) => mode));
/** Switches the mode, and syncs with the follow-up. */
const switchTo = async (change: Partial<OpenstackConfigSpec>) => {
  const before = scene.viola.posts.length;
  scene.edit(change);
  await scene.look();
  return posted(before);
};
const metricOf = async (name: string) =>
  (await scene.metrics.registry.getMetricsAsJSON())
    .find((one) => one.name === name)
    ?.values.filter(({ value }) => value > 0)
    .map(({ labels }) => (labels as { reason?: string }).reason);

describe('mode Observe', () => {
  it('a change of mode posts each node once, in both directions, and a lost pause is posted again', async () => {
    await delivered(scene);
    expect(await switchTo(observed)).toEqual([['Observe', 'Observe']]);
    for (let n = 0; n < 5; n++) await scene.look(60_000);
    expect(posted()).toHaveLength(2);
    const node = scene.viola.nodes.get('worker-1');
    if (node) scene.viola.put({ ...node, pausedToObserve: false });
    await scene.look(60_000);
    expect(posted(2)).toEqual([['Observe']]);
    expect(await switchTo({})).toEqual([[undefined, undefined]]);
    for (let n = 0; n < 5; n++) await scene.look(60_000);
    expect(posted()).toHaveLength(4);
  });

  it('a node leaves mode Observe although a user changed the pause', async () => {
    await delivered(scene);
    await switchTo(observed);
    const node = scene.viola.nodes.get('worker-1');
    if (node) scene.viola.put({ ...node, pausedToObserve: false });
    await switchTo({});
    expect(scene.viola.nodes.get('worker-1')?.spec.mode).toBeUndefined();
    for (let n = 0; n < 3; n++) await scene.look(60_000);
    expect(posted(2)).toEqual([[undefined, undefined]]);
  });

  it.each([
    ['is deleted without consent if it was only observed', 'check', 'gone'],
    ['waits for consent if agents have changed the nodes', 'apply', 'held'],
  ] as const)('an OpenstackConfig above the budget %s', async (_, action, end) => {
    for (let n = 1; n <= 20; n++) attach(scene.cloud, n, n <= 10 ? 1 : 2);
    scene.create(observed);
    await scene.look();
    scene.viola.report('Observed');
    for (const node of scene.viola.nodes.values()) {
      const applied = { objectUid: node.uid, action, requested: [] };
      scene.viola.put({ ...node, status: { ...node.status, applied } });
    }
    await scene.look();
    scene.kube.delete();
    for (let n = 0; n < 2; n++) await scene.look();
    if (end === 'held') expect(scene.ready()).toContain('OverBudget: 20 of 20 NICs');
    expect(scene.viola.removals).toHaveLength(end === 'held' ? 0 : 2);
  });

  it('an observed OpenstackConfig is Delivered, with Ready and NICsReady Unknown and a count', async () => {
    attach(scene.cloud, 1, 1);
    attach(scene.cloud, 2, 2);
    scene.create(observed);
    await scene.look();
    expect(shown('NICsReady')).toMatch(
      /^Unknown Observed: observe only: 0 of 2 NICs are as planned; node worker-1: 0 of 1, /,
    );
    scene.viola.report('Observed', 'NICInUse');
    const node = scene.viola.nodes.get('worker-2');
    const [nic] = node?.status?.interfaceStatuses ?? [];
    if (node?.status && nic) {
      const interfaceStatuses = [{ ...nic, status: 'Configured', reason: 'Configured' }];
      scene.viola.put({ ...node, status: { ...node.status, interfaceStatuses } });
    }
    await scene.look();
    expect(
      ['Ready', 'Delivered', 'NICsReady', 'Degraded', 'Stalled', 'Reconciling'].map(shown),
    ).toEqual([
      'Unknown Observed: observe only: nodes are checked, and nothing is changed on them; to apply, set spec.settings.mode to Apply',
      'True Healthy: the business cluster has every node as planned',
      'Unknown Observed: observe only: 1 of 2 NICs is as planned',
      'False Healthy: controller healthy',
      'undefined undefined: undefined',
      'undefined undefined: undefined',
    ]);
    const { summary, lastSyncedAt, lastError, nodes } = scene.status();
    expect([summary?.nics, lastSyncedAt !== undefined, lastError]).toEqual(['1/2', true, '']);
    expect(nodes?.map(({ state }) => state)).toEqual(['Observed', 'Observed']);
    expect(scene.events.filter(({ type }) => type === 'Warning')).toEqual([]);
    const writes = scene.kube.writes.length;
    await scene.readNodes(120_000);
    expect(scene.kube.writes.slice(writes)).toEqual([]);
  });

  it('trigger mode manual starts no sync for an observed OpenstackConfig, also after a restart', async () => {
    await delivered(scene);
    await switchTo(observed);
    scene.viola.report('Observed');
    await scene.look();
    scene.trigger('mode: manual');
    scene.restart();
    const lists = scene.viola.lists.length;
    for (let n = 0; n < 3; n++) await scene.reconcile(600_000);
    expect(scene.viola.lists).toHaveLength(lists);
  });

  it('NICsReady names nodes paused despite an older CRD, and a request posts the nodes again', async () => {
    scene.viola.storesMode = false;
    attach(scene.cloud, 1, 1);
    scene.create({ ...observed, vmNames: serverIds.slice(0, 1) });
    await scene.look();
    scene.viola.report('Failed', 'Paused');
    for (let n = 0; n < 3; n++) await scene.look(60_000);
    expect(shown('NICsReady')).toMatch(
      /^Unknown Observed: .* node worker-1: 0 of 1, the CRD in the business cluster is older than mode Observe/,
    );
    expect(posted()).toHaveLength(1);
    scene.viola.storesMode = true;
    scene.kube.annotate({ 'multinic.io/reconcile-at': 'now' });
    await scene.look();
    expect(scene.viola.nodes.get('worker-1')?.spec.mode).toBe('Observe');
  });
});

/** Ways to change a business cluster. Each begins with two delivered nodes in mode Observe. */
const ways: Readonly<Record<string, () => Promise<unknown>>> = {
  'a new port': async () => {
    attach(scene.cloud, 3, 1);
    await scene.look(60_000);
  },
  'a detached port': async () => {
    detach(scene.cloud, 1);
    for (let n = 0; n < 5; n++) await scene.look(60_000);
  },
  'a deselected server': async () => {
    scene.edit({ ...observed, vmNames: serverIds.slice(0, 1) });
    await scene.look(60_000);
  },
  'a requested sync': async () => {
    scene.kube.annotate({ 'multinic.io/reconcile-at': 'now' });
    await scene.look(60_000);
  },
  'a moved business cluster': async () => {
    const next = new FakeViola('2-');
    next.features = scene.viola.features;
    next.featuresOutage = scene.viola.featuresOutage;
    scene.otherViolas.set('biz-2', next);
    const credentials = { ...spec.credentials, k8sProviderID: 'biz-2' };
    scene.edit({ ...observed, credentials });
    await scene.look(60_000);
  },
  'a deletion': async () => {
    scene.kube.delete();
    await scene.look(60_000);
  },
};

/** Business cluster behind an earlier Viola. */
const earlier = { providerId: 'biz-1', features: async () => Promise.resolve([]) };
const outage = new RequestError('no answer', { service: 'viola', kind: 'unreachable' });
/** Viola's answers about the feature, with the reason in the status. */
const answers: readonly [text: string, close: (viola: FakeViola) => void, reason: RegExp][] = [
  [
    'an earlier Viola',
    (viola) => {
      viola.features = [];
    },
    /ObserveUnsupported/,
  ],
  [
    'a Viola without the cluster',
    (viola) => {
      viola.features = undefined;
    },
    /ViolaPostError: ClusterNotRegistered/,
  ],
  [
    'an unreachable list of clusters',
    (viola) => {
      viola.featuresOutage = outage;
    },
    /ViolaPostError: ViolaUnavailable/,
  ],
];

describe('gate for mode Observe', () => {
  it.each(
    Object.keys(ways).flatMap((way) =>
      answers.map(([text, close, reason]) => ({ way, text, close, reason })),
    ),
  )('$way sends nothing to $text until the gate opens', async ({ way, close, reason }) => {
    attach(scene.cloud, 1, 1);
    attach(scene.cloud, 2, 2);
    scene.create(observed);
    await scene.look();
    scene.viola.report('Observed');
    await scene.look();
    const sent = () => {
      const all = [scene.viola, ...scene.otherViolas.values()];
      return all.reduce((sum, { posts, removals }) => sum + posts.length + removals.length, 0);
    };
    const before = sent();
    const removals = scene.status().removals;
    close(scene.viola);
    const run = ways[way];
    await run?.();
    expect([sent() - before, scene.status().removals]).toEqual([0, removals]);
    expect(scene.ready()).toMatch(reason);
    for (const viola of [scene.viola, ...scene.otherViolas.values()]) {
      viola.features = ['observe'];
      viola.featuresOutage = undefined;
    }
    for (let n = 0; n < 5; n++) await scene.look(300_000);
    expect(sent()).toBeGreaterThan(before);
    const modes = scene.viola.posts.flat().map(({ mode }) => mode);
    expect(new Set(modes)).toEqual(new Set(['Observe']));
  });

  it('a former business cluster has a gate apart from the present one', async () => {
    attach(scene.cloud, 1, 1);
    attach(scene.cloud, 2, 2);
    scene.create(observed);
    await scene.look();
    const next = new FakeViola('2-');
    scene.otherViolas.set('biz-2', next);
    scene.viola.features = [];
    const credentials = { ...spec.credentials, k8sProviderID: 'biz-2' };
    scene.edit({ ...observed, credentials, vmNames: serverIds.slice(0, 1) });
    await scene.look();
    next.report('Observed');
    for (const node of next.nodes.values()) {
      // The Nodes are in this business cluster.
      const applied = { objectUid: node.uid, nodeUid: 'node', action: 'apply' as const };
      next.put({ ...node, status: { ...node.status, applied } });
    }
    for (let n = 0; n < 3; n++) await scene.look(60_000);
    expect([next.posts.length, scene.viola.removals, scene.status().removals]).toEqual([
      1,
      [],
      undefined,
    ]);
    expect(scene.ready()).toMatch(/ObserveUnsupported: nodes in business cluster "biz-1"/);
    scene.viola.features = ['observe'];
    await scene.look(60_000);
    expect(scene.viola.removals).toHaveLength(2);
  });

  it.each<[string, (viola: ViolaClient) => Promise<unknown>]>([
    ['post', async (viola) => viola.post([], signal)],
    ['remove', async (viola) => viola.remove('n', null, { basis: 'named' }, signal)],
    ['dryRun', async (viola) => viola.dryRun([], signal)],
    ['admit', async (viola) => viola.admit()],
  ])('%s is refused by a closed gate, while reads pass', async (_name, write) => {
    const viola = behindGate(scene.viola, { observes: true }, earlier);
    await expect(write(viola)).rejects.toMatchObject({ reason: 'ObserveUnsupported' });
    const { posts, removals, dryRuns } = scene.viola;
    expect([posts, removals, dryRuns, await viola.get('n', signal)]).toEqual([
      [],
      [],
      [],
      undefined,
    ]);
  });

  it('mode Apply needs no feature in the cluster list', async () => {
    scene.viola.features = undefined;
    await delivered(scene);
    expect(posted()).toEqual([[undefined, undefined]]);
  });

  it('the metrics count an observed OpenstackConfig by reason Observed, which has no alert', async () => {
    attach(scene.cloud, 1, 1);
    scene.create(observed);
    await scene.look();
    scene.viola.report('Observed');
    await scene.look();
    expect(await metricOf('multinic_openstack_configs_not_ready')).toEqual(['Observed']);
    expect(await metricOf('multinic_openstack_configs_nics_not_ready')).toEqual(['Observed']);
  });
});
