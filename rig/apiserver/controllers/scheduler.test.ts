import { describe, expect, it } from 'vitest';
import { at, type Json, type JsonObject } from '../objects/json.ts';
import { type TestCluster, testCluster } from './cluster-in-test.ts';
import { scheduler } from './scheduler.ts';

const hostname = 'kubernetes.io/hostname';

function addNode(test: TestCluster, name: string, ready: 'True' | 'False'): void {
  test.create('nodes', { name, labels: { [hostname]: name } });
  test.change(
    'nodes',
    name,
    { status: { conditions: [{ type: 'Ready', status: ready }] } },
    'status',
  );
}

function addPod(test: TestCluster, name: string, spec: JsonObject = {}): void {
  test.create('pods', { name }, { spec: { containers: [], ...spec } });
}

function nodeOf(test: TestCluster, pod: string): Json | undefined {
  return at(test.get('pods', pod), 'spec', 'nodeName');
}

describe('the scheduler', () => {
  it('takes the first Ready node that the nodeSelector fits', async () => {
    using test = testCluster(scheduler);
    addNode(test, 'a', 'False');
    addNode(test, 'b', 'True');
    addNode(test, 'c', 'True');
    addPod(test, 'any');
    addPod(test, 'chosen', { nodeSelector: { [hostname]: 'c' } });
    addPod(test, 'given', { nodeName: 'a' });
    await test.settle();
    expect(['any', 'chosen', 'given'].map((pod) => nodeOf(test, pod))).toEqual(['b', 'c', 'a']);
    expect(at(test.get('pods', 'any'), 'status', 'conditions')).toMatchObject([
      { type: 'PodScheduled', status: 'True' },
    ]);
  });

  it('says Unschedulable while no node fits, and goes on when one does', async () => {
    using test = testCluster(scheduler);
    addPod(test, 'waiting', { nodeSelector: { [hostname]: 'late' } });
    await test.settle();
    expect(at(test.get('pods', 'waiting'), 'status', 'conditions')).toMatchObject([
      { type: 'PodScheduled', status: 'False', reason: 'Unschedulable' },
    ]);
    addNode(test, 'late', 'True');
    await test.settle();
    expect(nodeOf(test, 'waiting')).toBe('late');
  });
});
