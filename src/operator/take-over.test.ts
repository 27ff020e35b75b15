import { afterEach, describe, expect, it } from 'vitest';
import { delivered, environment, type Scene, setScene, spec } from './testing/scene.ts';

let scene: Scene;

afterEach(async () => scene[Symbol.asyncDispose]());

const other = {
  namespace: 'team-b',
  name: 'other',
  uid: 'other-uid',
  generation: 1,
  cloud: 'keystone.test:443/project-1',
};

/** Delivers both nodes from `team-b/other`; our config requests a take-over. */
async function foreignNodes(env: Readonly<Record<string, string>> = {}): Promise<void> {
  scene = await setScene({ ...environment, ...env });
  await delivered(scene);
  for (const node of scene.viola.nodes.values()) scene.viola.put({ ...node, source: other });
  scene.kube.annotate({ 'multinic.io/take-over-from': 'team-b/other' });
}

/** Creates the OpenstackConfig `team-b/other`. */
function createOwner(annotations: Readonly<Record<string, string>> = {}): void {
  const { namespace, name, uid } = other;
  scene.kube.configs.upsert({
    metadata: { namespace, name, uid, resourceVersion: '1', annotations },
    spec,
  });
}

function owners(): string[] {
  return [...scene.viola.nodes.values()].map(({ source }) => source?.name ?? '');
}

const handOver = (to: string) => ({ 'multinic.io/hand-over-to': to });

describe('[X1] nodes from a foreign OpenstackConfig', () => {
  it.each<[what: string, prepare: () => void, env?: Readonly<Record<string, string>>]>([
    ['an existing owner', () => createOwner()],
    [
      'an owner with hand-over-to for a third config',
      () => createOwner(handOver('multinic-system/thief')),
    ],
    [
      'an existing owner named with a former management cluster',
      () => {
        createOwner();
        const source = { ...other, cluster: 'former' };
        for (const node of scene.viola.nodes.values()) scene.viola.put({ ...node, source });
        scene.kube.annotate({ 'multinic.io/take-over-from': 'former/team-b/other' });
      },
      { FORMER_CLUSTERS: 'former' },
    ],
    [
      'an owner outside the watched namespace',
      () => undefined,
      { WATCH_NAMESPACE: 'multinic-system' },
    ],
    [
      'a source without cloud, as written by earlier operators',
      () => {
        const { cloud: _, ...source } = other;
        for (const node of scene.viola.nodes.values()) scene.viola.put({ ...node, source });
      },
    ],
    ['servers invisible to the account', () => void (scene.cloud.vms = [])],
  ])('foreign nodes stay with their owner: %s', async (_, prepare, env) => {
    await foreignNodes(env);
    prepare();
    await scene.look(300_000);
    await scene.look(300_000);
    expect(owners()).toEqual(['other', 'other']);
    scene.edit({ vmNames: [] });
    await scene.look();
    expect(scene.viola.removals).toEqual([]);
  });

  it.each<[what: string, prepare: () => void]>([
    ['a deleted owner', () => undefined],
    [
      'an owner with hand-over-to for this config',
      () => createOwner(handOver('multinic-system/osc')),
    ],
  ])('foreign nodes are taken over: %s', async (_, prepare) => {
    await foreignNodes();
    prepare();
    await scene.look();
    expect(owners()).toEqual(['osc', 'osc']);
    expect(scene.viola.removals).toEqual([]);
    expect(scene.ready()).toContain('True');
  });
});

describe('[W22] two namesake OpenstackConfigs in different management clusters', () => {
  const namesake = { namespace: 'multinic-system', name: 'osc', uid: 'namesake', generation: 1 };

  it('a namesake replaced as owner writes nothing and reports NameConflict until reconcile-at has a new value', async () => {
    scene = await setScene();
    await delivered(scene);
    const [first] = scene.viola.nodes.values();
    const { uid = '' } = scene.object()?.metadata ?? {};
    if (first) scene.viola.put({ ...first, source: { ...namesake, replaces: [uid] } });
    const posts = scene.viola.posts.length;
    for (let syncs = 0; syncs < 3; syncs++) await scene.look(300_000);
    expect(scene.viola.posts).toHaveLength(posts);
    expect(scene.ready()).toContain('False NameConflict: node worker-1 was written for another');
    scene.kube.annotate({ 'multinic.io/reconcile-at': 'now' });
    await scene.look();
    expect(scene.viola.nodes.get('worker-1')?.source).toMatchObject({
      uid,
      replaces: ['namesake'],
    });
    expect(scene.ready()).toContain('True');
  });

  it('a deleted namesake keeps nodes delivered by the second namesake, and removes unclear nodes only after approval', async () => {
    scene = await setScene();
    await delivered(scene);
    const [first, second] = scene.viola.nodes.values();
    const { uid = '' } = scene.object()?.metadata ?? {};
    if (first) scene.viola.put({ ...first, source: { ...namesake, replaces: [uid] } });
    if (second) scene.viola.put({ ...second, source: namesake });
    scene.kube.delete();
    await scene.look();
    await scene.look(300_000);
    expect(scene.viola.removals).toEqual([]);
    expect(scene.ready()).toContain('False NameConflict: worker-2: delivered by an earlier');
    scene.kube.annotate({ 'multinic.io/allow-removals': 'now' });
    await scene.look(300_000);
    expect(scene.viola.removals).toEqual(['worker-2']);
    scene.viola.clean();
    await scene.look(300_000);
    expect(scene.object()).toBeUndefined();
    expect([...scene.viola.nodes.keys()]).toEqual(['worker-1']);
  });

  it('a deleted namesake is released without approval when the unclear nodes are gone', async () => {
    scene = await setScene();
    await delivered(scene);
    for (const node of scene.viola.nodes.values()) scene.viola.put({ ...node, source: namesake });
    scene.kube.delete();
    await scene.look();
    expect(scene.ready()).toContain('False NameConflict');
    scene.viola.nodes.clear();
    await scene.look(300_000);
    expect(scene.object()).toBeUndefined();
  });
});

it.each([
  ['no setting', '', 'NameConflict'],
  ['another namespace', 'team-b', 'NameConflict'],
  ['another name', 'multinic-system/other', 'NameConflict'],
  ['its namespace', 'team-b,multinic-system', 'Synced'],
  ['its name', 'multinic-system/osc', 'Synced'],
])('with %s in LEGACY_TAKE_OVER, objects without source give %s', async (_, setting, reason) => {
  scene = await setScene({ ...environment, LEGACY_TAKE_OVER: setting });
  await delivered(scene);
  const before = scene.viola.posts.length;
  for (const { source: _s, ...node } of scene.viola.nodes.values()) scene.viola.put(node);
  await scene.look();
  expect(scene.condition('Ready')?.reason).toBe(reason);
  const isTaken = reason === 'Synced';
  expect(scene.viola.posts.length > before).toBe(isTaken);
  expect(scene.ready().includes("the operator's setting LEGACY_TAKE_OVER")).toBe(!isTaken);
});
