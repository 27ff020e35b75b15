import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { delivered, type Scene, setScene } from '../../testing/scene.ts';

let scene: Scene;

beforeEach(async () => {
  scene = await setScene();
});

afterEach(async () => scene[Symbol.asyncDispose]());

const request = (value: unknown) => {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  scene.kube.annotate({ 'multinic.io/check-nodes': text });
};
const handled = () => scene.status().lastHandledCheckNodes;
const notes = () =>
  scene.events
    .filter(({ reason }) => reason === 'ChecksRequested' || reason === 'CheckNodesRefused')
    .map(({ type, message }) => `${type}: ${message}`);

describe('multinic.io/check-nodes', () => {
  it('a node of a namesake in another management cluster is not checked', async () => {
    await delivered(scene);
    for (const node of scene.viola.nodes.values()) {
      const source = { ...node.source, uid: 'namesake', cluster: 'cluster-2', generation: 1 };
      scene.viola.put({ ...node, source: source as NonNullable<typeof node.source> });
    }
    request({ id: 'a', nodes: ['worker-1'], heal: true });
    await scene.look();
    expect(scene.viola.checks).toEqual([]);
    expect(notes()).toEqual([expect.stringContaining('"worker-1" is not delivered by')]);
  });

  it('a new id is passed on once for each node, without a POST, and a further id again', async () => {
    await delivered(scene);
    request({ id: 'a', nodes: ['worker-1', 'worker-2', 'worker-1'] });
    await scene.look();
    await scene.look();
    expect(scene.viola.checks.toSorted()).toEqual(['worker-1 a', 'worker-2 a']);
    expect([handled(), scene.viola.posts.length]).toEqual(['a', 1]);
    expect(notes()).toEqual(['Normal: 2 nodes will be checked (multinic.io/check-nodes a)']);
    request({ id: 'b', nodes: ['worker-2'], heal: true });
    await scene.look();
    expect(scene.viola.checks.slice(2)).toEqual(['worker-2 b heal']);
    expect([handled(), scene.ready()]).toEqual(['b', 'True NoChange: no changes detected']);
  });

  it.each([
    { heal: false, applied: { checkAsked: 'a' }, what: 'checked' },
    { heal: true, applied: { healAsked: 'a' }, what: 'checked and healed' },
  ])('a node $what with the same id before is named, and not counted', async (each) => {
    const { heal, applied, what } = each;
    await delivered(scene);
    const node = scene.viola.nodes.get('worker-1');
    if (node) scene.viola.put({ ...node, status: { applied } });
    request({ id: 'a', nodes: ['worker-1', 'worker-2'], heal });
    await scene.reconcile(15_000);
    expect(scene.viola.checks).toEqual([`worker-2 a${heal ? ' heal' : ''}`]);
    expect(notes()).toEqual([
      `Normal: 1 node will be ${what} (multinic.io/check-nodes a); worker-1: already ${what} with this id, a new id does it again`,
    ]);
  });

  it('nodes of another OpenstackConfig, and unknown nodes, are refused by name', async () => {
    await delivered(scene);
    const foreign = scene.viola.nodes.get('worker-2');
    const source = { namespace: 'team', name: 'other', uid: 'u', generation: 1 };
    if (foreign) scene.viola.put({ ...foreign, source });
    request({ id: 'a', nodes: ['worker-1', 'worker-2', 'worker-9'] });
    await scene.reconcile(15_000);
    expect(scene.viola.checks).toEqual(['worker-1 a']);
    expect(notes()).toEqual([
      'Normal: 1 node will be checked (multinic.io/check-nodes a)',
      'Warning: multinic.io/check-nodes a: node "worker-2" is not delivered by multinic-system/osc; set the annotation on the OpenstackConfig that delivers it; biz-1 has no node "worker-9"',
    ]);
    expect(handled()).toBe('a');
  });

  it.each([
    ['no JSON', 'worker-1', 'expected object'],
    ['no id', { nodes: ['worker-1'] }, 'id: '],
    ['no node', { id: 'a', nodes: [] }, 'nodes: '],
    ['51 nodes', { id: 'a', nodes: Array.from({ length: 51 }, (_, at) => `n${at}`) }, 'nodes: '],
    ['an unknown field', { id: 'a', nodes: ['n'], force: true }, 'force'],
  ])('a request with %s is reported once, and checks nothing', async (_, value, flaw) => {
    await delivered(scene);
    request(value);
    await scene.look();
    await scene.look();
    expect(scene.viola.checks).toEqual([]);
    expect(handled()).toMatch(/^unusable [0-9a-f]{12}$/);
    expect(notes()).toHaveLength(1);
    expect(notes()[0]).toContain(flaw);
    request({ id: 'a', nodes: ['worker-1'] });
    await scene.look();
    expect([handled(), scene.viola.checks]).toEqual(['a', ['worker-1 a']]);
  });

  it('a request waits while Viola does not answer, and while the OpenstackConfig is paused', async () => {
    await delivered(scene);
    request({ id: 'a', nodes: ['worker-1'] });
    scene.viola.fail(503);
    expect(await scene.reconcile(15_000)).toBeLessThanOrEqual(10_000);
    expect([handled(), notes()]).toEqual([undefined, []]);
    scene.viola.outage = undefined;
    scene.kube.annotate({ 'multinic.io/paused': 'true' });
    await scene.reconcile(10_000);
    expect(handled()).toBeUndefined();
    scene.kube.annotate({ 'multinic.io/paused': 'false' });
    await scene.reconcile(10_000);
    expect([handled(), scene.viola.checks]).toEqual(['a', ['worker-1 a']]);
  });

  it('an open request hardly adds to the requests to OpenStack while Viola does not answer', async () => {
    await delivered(scene);
    scene.viola.fail(503);
    request({ id: 'a', nodes: ['worker-1'] });
    const pauses: (number | undefined)[] = [];
    for (let at = 0; at < 6; at++) pauses.push(await scene.reconcile(pauses.at(-1) ?? 15_000));
    expect(pauses.slice(0, 3)).toEqual([10_000, 20_000, 40_000]);
    request({ id: 'b', nodes: ['worker-1'] });
    expect(await scene.reconcile(pauses.at(-1) ?? 0)).toBe(10_000);
  });

  it('with trigger mode manual a request is passed on without a sync, also while OpenStack is down', async () => {
    await delivered(scene);
    scene.trigger('mode: manual');
    // Until then the operator follows delivered NICs.
    await scene.look(1_200_000);
    scene.cloud.fail('portsOf', 'timeout');
    const before = scene.cloud.calls;
    request({ id: 'a', nodes: ['worker-1'] });
    await scene.reconcile(600_000);
    expect([handled(), scene.cloud.calls]).toEqual(['a', before]);
  });

  it('a Viola without checks is named', async () => {
    await delivered(scene);
    scene.viola.isCurrent = false;
    request({ id: 'a', nodes: ['worker-1'] });
    await scene.reconcile(15_000);
    expect(handled()).toBe('a');
    expect(notes()).toEqual([
      'Warning: multinic.io/check-nodes a: node "worker-1": this Viola has no checks; upgrade Viola',
    ]);
  });

  it('an operator killed after the checks passes the same request on again, with the same id', async () => {
    await delivered(scene);
    request({ id: 'a', nodes: ['worker-1'] });
    const dead = new Error('killed');
    const last = scene.effects.length;
    await scene.reconcile(15_000);
    const at = scene.effects.indexOf('after operator.node-config.check', last);
    expect(at).toBeGreaterThanOrEqual(last);
    request({ id: 'b', nodes: ['worker-1'] });
    scene.killAt(scene.effects.length + 1, dead);
    await expect(scene.reconcile(15_000)).rejects.toThrow('killed');
    scene.restart();
    await scene.look();
    expect([handled(), new Set(scene.viola.checks)]).toEqual([
      'b',
      new Set(['worker-1 a', 'worker-1 b']),
    ]);
  });
});
