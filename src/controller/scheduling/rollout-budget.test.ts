import { expect, it } from 'vitest';
import { node, nodeConfig } from '../../../test/fixtures/controller-samples.ts';
import { Store } from '../../kube/cache/store.ts';
import type { Node } from '../../kube/core-resources.ts';
import { createFakeClock } from '../../time/fake-clock.ts';
import type { NodeConfig } from '../objects/stores.ts';
import { createRollout } from './rollout-budget.ts';

const namespace = 'multinic-system';

/** A rollout over objects with one source; records are written as runs start and end. */
function world(count: number, domainLabel?: string) {
  const configs = new Store<NodeConfig>();
  const jobs = new Set<string>();
  const clock = createFakeClock();
  const woken: string[] = [];
  const gone = new Set<string>();
  let proven = 0;
  let version = 0;
  const put = (name: string, status?: object, noted: object = {}): void => {
    version += 1;
    const source = JSON.stringify({ uid: 'source-1', generation: 2 });
    const annotations = { 'multinic.io/source': source, ...noted };
    const metadata = { name, uid: name, resourceVersion: String(version), annotations };
    configs.upsert(nodeConfig({ metadata, ...(status ? { status } : {}) }));
  };
  const rollout = createRollout({
    configs,
    nodes: { get: (name) => (gone.has(name) ? undefined : nodeOf(name)) },
    image: 'agent:1',
    domainLabel,
    hasJob: (name) => jobs.has(name),
    openJobs: () => [...jobs],
    clock,
    wake: (keys) => void woken.push(...keys),
    onImageProven: () => void (proven += 1),
  });
  const names = Array.from({ length: count }, (_, n) => `n${n + 1}`);
  for (const name of names) put(name);
  const revision = rollout.revisionOf(nodeConfig({ metadata: configs.list()[0]?.metadata ?? {} }));
  const request = (name: string) =>
    rollout.request({ key: `${namespace}/${name}`, node: nodeOf(name), revisions: [{ revision }] });
  const record = (name: string, phase: string, isGone = false): void => {
    if (!isGone) jobs.add(`job-${name}`);
    const at = clock.now().toISOString();
    const applied = { objectUid: name, nodeName: name, job: `job-${name}`, at, revision };
    put(name, { applied: { ...applied, action: 'apply', rollout: phase } });
  };
  const end = (name: string, phase: string): void => {
    jobs.delete(`job-${name}`);
    record(name, phase, true);
  };
  const taken = (): string[] => woken.splice(0).map((key) => key.slice(namespace.length + 1));
  return { rollout, revision, request, record, end, taken, clock, put, gone, proven: () => proven };
}

function nodeOf(name: string): Node {
  const { metadata, ...rest } = node(name, name);
  const zone = Number(name.slice(1)) % 2 === 0 ? 'even' : 'odd';
  return { ...rest, metadata: { ...metadata, labels: { zone } } };
}

it('two simultaneous starts do not exceed the budget, before and after the record is visible', () => {
  const { request, record } = world(30);
  const first = request('n1');
  expect(request('n2').granted).toBe(false);
  record('n1', 'started');
  expect(request('n2').granted).toBe(false);
  if (first.granted) first.release();
  expect(request('n2').granted).toBe(false);
});

it('a failed start passes its share to the longest waiting object', () => {
  const { request, taken } = world(30);
  const first = request('n1');
  request('n2');
  request('n3');
  if (first.granted) first.release();
  expect(taken()).toEqual(['n2']);
  expect(request('n2').granted).toBe(true);
});

it('a change waiting for a slot keeps its share for as long as its object retries', async () => {
  const { request, clock } = world(30);
  const first = request('n1');
  if (first.granted) first.reserve();
  expect(request('n2').granted).toBe(false);
  await clock.advance(60_000);
  expect(request('n1').granted).toBe(true);
  const again = request('n1');
  if (again.granted) again.reserve();
  await clock.advance(60_000);
  expect(request('n2').granted).toBe(false);
  await clock.advance(60_000);
  expect(request('n2').granted).toBe(true);
});

it('a new step wakes all objects, a finished run only as many as may start', () => {
  const { request, record, end, taken } = world(30);
  const start = (name: string): boolean => {
    const part = request(name);
    if (!part.granted) return false;
    record(name, 'started');
    part.release();
    return true;
  };
  expect(['n1', 'n2', 'n3', 'n4', 'n5', 'n6'].map(start)).toEqual([
    true,
    false,
    false,
    false,
    false,
    false,
  ]);
  taken();
  end('n1', 'done');
  expect(taken()).toEqual(['n2', 'n3', 'n4', 'n5', 'n6']);
  expect(['n2', 'n3', 'n4', 'n5', 'n6'].map(start)).toEqual([true, true, true, false, false]);
  end('n2', 'done');
  expect(taken()).toEqual([]);
  end('n3', 'done');
  end('n4', 'done');
  expect(taken()).toEqual(['n5', 'n6']);
});

it('a run without a Job counts as failed until the object reports its outcome', () => {
  const { request, record, end } = world(30);
  record('n1', 'started', true);
  const refused = request('n2');
  expect(refused).toMatchObject({ granted: false, why: { isStopped: true } });
  end('n1', 'done');
  expect(request('n2').granted).toBe(true);
});

it('a run whose Node is deleted counts as failed although its Job still exists', () => {
  const { request, record, gone } = world(30);
  record('n1', 'started');
  gone.add('n1');
  expect(request('n2')).toMatchObject({ granted: false, why: { isStopped: true } });
});

it.each([
  ['the agent of this image', (revision: string) => revision, 1],
  ['an agent of an earlier image', () => 'source-1/2/0123456789ab', 0],
])('isImageProven after a result from %s', (_agent, of, count) => {
  const { rollout, revision, proven } = world(3);
  rollout.ended({ done: true, revision: of(revision) });
  expect(proven()).toBe(count);
  expect(rollout.isImageProven()).toBe(count === 1);
});

it('a rollout-continue value counts once per source', () => {
  const { rollout, put } = world(3);
  const noted = { 'multinic.io/rollout-continue': 'x' };
  const of = (name: string, value: object = noted): NodeConfig => {
    const source = { 'multinic.io/source': JSON.stringify({ uid: 'source-1', generation: 2 }) };
    return nodeConfig({ metadata: { name, uid: name, annotations: { ...source, ...value } } });
  };
  const handled = rollout.continuedBy(of('n1'));
  expect(handled).toMatchObject({ value: 'x' });
  put('n1', { rolloutContinued: { value: 'x', at: '2020-01-01T00:00:00Z' } }, noted);
  expect(rollout.continuedBy(of('n2'))).toEqual({ value: 'x', at: '2020-01-01T00:00:00Z' });
  expect(rollout.continuedBy(of('n2', { 'multinic.io/rollout-continue': '' }))).toBeUndefined();
  expect(rollout.continuedBy(of('n2', {}))).toBeUndefined();
});

it('nodes in another domain wait, and are woken when the first domain is free', () => {
  const { request, record, end, taken } = world(60, 'zone');
  record('n1', 'done');
  const odd = request('n3');
  record('n3', 'started');
  if (odd.granted) odd.release();
  expect(request('n2')).toMatchObject({
    granted: false,
    why: { message: expect.stringContaining('node n3 is being changed') as string },
  });
  const alike = request('n5');
  expect(alike.granted).toBe(true);
  record('n5', 'started');
  if (alike.granted) alike.release();
  end('n5', 'done');
  end('n3', 'done');
  expect(taken()).toContain('n2');
});
