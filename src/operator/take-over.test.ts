import { afterEach, describe, expect, it } from 'vitest';
import { delivered, environment, type Scene, setScene, spec } from './testing/scene.ts';

let scene: Scene;

afterEach(async () => scene[Symbol.asyncDispose]());

const other = { namespace: 'team-b', name: 'other', uid: 'other-uid', generation: 1 };

/** Both nodes were delivered by `team-b/other`, and ours wants them. */
async function othersNodes(env: Readonly<Record<string, string>> = {}): Promise<void> {
  scene = await setScene({ ...environment, ...env });
  await delivered(scene);
  for (const node of scene.viola.nodes.values()) scene.viola.put({ ...node, source: other });
  scene.kube.annotate({ 'multinic.io/take-over-from': 'team-b/other' });
}

/** The other OpenstackConfig exists. */
function alive(annotations: Readonly<Record<string, string>> = {}): void {
  const { namespace, name, uid } = other;
  scene.kube.configs.upsert({
    metadata: { namespace, name, uid, resourceVersion: '1', annotations },
    spec,
  });
}

function owners(): string[] {
  return [...scene.viola.nodes.values()].map(({ source }) => source?.name ?? '');
}

const hand = (to: string) => ({ 'multinic.io/hand-over-to': to });

describe('[X1] the nodes of another OpenstackConfig', () => {
  it.each<[what: string, prepare: () => void, env?: Readonly<Record<string, string>>]>([
    ['that lives', () => alive()],
    ['that hands them over to somebody else', () => alive(hand('multinic-system/thief'))],
    ['that another operator may watch', () => undefined, { WATCH_NAMESPACE: 'multinic-system' }],
    ['whose servers the account does not see', () => void (scene.cloud.vms = [])],
  ])('stay its own: %s', async (_, prepare, env) => {
    await othersNodes(env);
    prepare();
    await scene.look(300_000);
    await scene.look(300_000);
    expect(owners()).toEqual(['other', 'other']);
    scene.edit({ vmNames: [] });
    await scene.look();
    expect(scene.viola.removals).toEqual([]);
  });

  it.each<[what: string, prepare: () => void]>([
    ['that is gone', () => undefined],
    ['that agrees', () => alive(hand('multinic-system/osc'))],
  ])('are taken over: %s', async (_, prepare) => {
    await othersNodes();
    prepare();
    await scene.look();
    expect(owners()).toEqual(['osc', 'osc']);
    expect(scene.viola.removals).toEqual([]);
    expect(scene.ready()).toContain('True');
  });
});

describe('[W22] an OpenstackConfig and its namesake in another management cluster', () => {
  const namesake = { namespace: 'multinic-system', name: 'osc', uid: 'namesake', generation: 1 };

  it('do not write a node in turn: who was replaced says so until somebody decides', async () => {
    scene = await setScene();
    await delivered(scene);
    const [first] = scene.viola.nodes.values();
    const { uid = '' } = scene.object()?.metadata ?? {};
    if (first) scene.viola.put({ ...first, source: { ...namesake, replaces: [uid] } });
    const posts = scene.viola.posts.length;
    for (let looks = 0; looks < 3; looks++) await scene.look(300_000);
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

  it('go away without taking NICs off that the other one has', async () => {
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

  it('let a deleted one go when those nodes are gone, without consent', async () => {
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
