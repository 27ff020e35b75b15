import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BizSources, bizNode, system } from '../../../test/fixtures/biz-samples.ts';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';
import type { BizNode } from '../../api/multinicbizconfig.ts';
import { type BizConfig, readBizConfig } from '../../biz-config/biz-config.ts';
import { type NodeConfig, readNodeConfig } from '../objects/stores.ts';
import type { Observed } from './holders.ts';
import { modeOf } from './mode.ts';
import { planExpansion } from './plan.ts';
import { statusOf } from './status.ts';

const now = new Date('2026-11-26T10:00:00Z');

function sourceOf(nodeConfigs: readonly BizNode[], change: object = {}): BizConfig {
  const metadata = { name: 'all', namespace: system, uid: 'u', generation: 4 };
  return readBizConfig({ metadata, spec: { providerId: 'p-1', nodeConfigs }, ...change });
}

function observed(source: BizConfig, objects: readonly NodeConfig[]): Observed {
  return {
    source,
    marks: { group: 'multinic.io', name: 'all', uid: 'u', generation: 4 },
    labelled: objects,
    find: ({ objectName }) => objects.filter(({ metadata }) => metadata.name === objectName),
    isForeign: () => false,
  };
}

function statusFor(source: BizConfig, objects: readonly NodeConfig[] = []) {
  const plan = planExpansion(observed(source, objects), now);
  return statusOf({ source, mode: modeOf(source, 'active'), plan, nodes: plan.nodes, now });
}

/** Returns a source's objects with this status. */
function objectsOf(source: BizConfig, status: object): NodeConfig[] {
  const { nodes } = planExpansion(observed(source, []), now);
  return nodes.flatMap(({ step }) =>
    step.kind === 'write'
      ? [
          readNodeConfig({
            metadata: { ...step.write.metadata, uid: 'n', generation: 1 },
            spec: step.write.spec,
            status: { observedGeneration: 1, ...status },
          }),
        ]
      : [],
  );
}

const lines = (count: number, nics: readonly number[]): BizNode[] =>
  Array.from({ length: count }, (_, n) => bizNode(n, nics));

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));
const limit = 1.4 * 1024 * 1024;

describe('the status of a MultiNicBizConfig', () => {
  it.each([
    ['with 1,000 nodes and 5 NICs each lists all nodes', 1_000, 5, 0, 1_000],
    ['with 5,000 nodes without NICs lists all nodes', 5_000, 0, 0, 5_000],
    ['near the size limit lists only nodes not configured', 1_150, 10, 3, 3],
    ['near the size limit lists no nodes when too many are not configured', 1_190, 10, 1_190, 0],
  ])('the status %s', (_what, count, nics, pending, listed) => {
    const numbers = Array.from({ length: nics }, (_, n) => n + 1);
    const source = sourceOf(lines(count, numbers));
    const configured = {
      state: 'Configured',
      lastJobName: 'multinic-agent-worker-0-20261126100000',
      lastProcessed: '2026-11-26T10:00:00Z',
    };
    const status = statusFor(source, objectsOf(source, configured).slice(pending));
    expect(status.summary).toMatchObject({ totalNodes: count, pendingNodes: pending });
    expect(status.nodeStatuses).toHaveLength(listed);
    expect(bytesOf({ ...source, status })).toBeLessThanOrEqual(limit);
  });

  it.each<[string, object, object]>([
    [
      'Configured',
      { state: 'Configured', lastProcessed: 't', lastJobName: 'j' },
      { state: 'Configured', lastProcessed: 't', lastJobName: 'j' },
    ],
    [
      'Failed',
      {
        state: 'Failed',
        conditions: [
          { type: 'Ready', status: 'False', reason: 'JobFailed', message: 'x'.repeat(900) },
        ],
      },
      { state: 'Failed', reason: 'JobFailed', message: 'x'.repeat(256) },
    ],
    [
      'Pending without a Node',
      {
        state: 'Pending',
        conditions: [{ type: 'Ready', status: 'False', reason: 'NodeNotFound', message: 'none' }],
      },
      { state: 'Pending', reason: 'NodeNotFound', message: 'none' },
    ],
    [
      'at an older generation',
      { state: 'Configured', observedGeneration: 0 },
      { state: 'Pending' },
    ],
    ['without a readable status', { state: 7 }, { state: 'Pending' }],
  ])('the status shows a node that is %s', (_what, child, wanted) => {
    const source = sourceOf([bizNode(1, [1])]);
    const [first] = statusFor(source, objectsOf(source, child)).nodeStatuses ?? [];
    expect(first).toEqual({ attachedNodeId: 'i-1', attachedNodeName: 'w-1', ...wanted });
  });

  it.each([
    ['Configured', 'Unknown NodeNotReady', 'False NodeNotReady', /: w-0$/],
    ['InProgress', 'Unknown ProcessingNodes', 'True ProcessingNodes', /^Processing .*: w-0$/],
  ])('the status names an unready node beside %s nodes', (state, ready, inProgress, message) => {
    const source = sourceOf(lines(3, [1]));
    const conditions = [{ type: 'Ready', status: 'Unknown', reason: 'NodeNotReady' }];
    const [first] = objectsOf(source, { state: 'Pending', conditions });
    const [, ...others] = objectsOf(source, { state });
    const status = statusFor(source, first ? [first, ...others] : []);
    const shown = (type: string) => status.conditions?.find((one) => one.type === type);
    expect(`${shown('Ready')?.status} ${shown('Ready')?.reason}`).toBe(ready);
    expect(`${shown('InProgress')?.status} ${shown('InProgress')?.reason}`).toBe(inProgress);
    expect(shown('Ready')?.message).toMatch(message);
  });

  it.each([
    ['Configured', 'Unknown Observed', 'False Observed'],
    ['InProgress', 'Unknown ProcessingNodes', 'True ProcessingNodes'],
  ])('the status names an observed node beside %s nodes', (state, ready, inProgress) => {
    const source = sourceOf(lines(3, [1]));
    const [first] = objectsOf(source, { state: 'Observed' });
    const [, ...others] = objectsOf(source, { state });
    const { conditions = [] } = statusFor(source, first ? [first, ...others] : []);
    const shown = conditions.map(({ type, status, reason }) => `${type} ${status} ${reason}`);
    expect(shown).toContain(`Ready ${ready}`);
    expect(shown).toContain(`InProgress ${inProgress}`);
    expect(conditions.map(({ type }) => type)).not.toContain('Stalled');
  });

  it('the status with an unreadable list names the field', () => {
    const status = statusFor(sourceOf([], { spec: { nodeConfigs: 'text' } }));
    const messages = status.conditions?.map(({ type, reason, message }) => [type, reason, message]);
    expect(messages).toContainEqual([
      'Accepted',
      'SpecUnreadable',
      expect.stringContaining('nodeConfigs'),
    ]);
    expect(messages).toContainEqual([
      'Ready',
      'SpecUnreadable',
      expect.stringContaining('nodeConfigs'),
    ]);
  });

  it('the status names five refused entries and counts the rest', () => {
    const source = sourceOf(lines(9, [1]).map((node) => ({ ...node, attachedNodeName: '한글' })));
    const accepted = statusFor(source).conditions?.find(({ type }) => type === 'Accepted');
    expect(accepted?.message).toMatch(/^nodeConfigs\[0\]\.attachedNodeName: .*; and 4 more$/);
  });
});

describe('a node with ten used indexes', () => {
  it('a node with ten used indexes is Pending until an index is free', () => {
    const source = sourceOf([bizNode(1, [11])]);
    const statuses = Array.from({ length: 10 }, (_, id) => ({ id, macAddress: `old-${id}` }));
    const [object] = objectsOf(sourceOf([bizNode(1, [])]), {
      state: 'Configured',
      interfaceStatuses: statuses,
    });
    const [first] = statusFor(source, object ? [object] : []).nodeStatuses ?? [];
    expect(first).toMatchObject({ state: 'Pending', reason: 'WaitingForIndex' });
  });
});

const named = (n: number) => bizNode(n, [1], { attachedNodeName: `k8s-worker-0${n}` });

describe('with a controller', () => {
  let fixture: ControllerFixture;

  beforeEach(async () => {
    fixture = await ControllerFixture.start();
  });

  afterEach(() => fixture[Symbol.asyncDispose]());

  it('the status equals the legacy sample for a configured, a running and a waiting node', async () => {
    for (const n of [1, 2, 3]) await fixture.addNode(`k8s-worker-0${n}`, `i-${n}`);
    const answer = fixture.agents.answer;
    fixture.agents.answer = (request) =>
      request.interfaces.some(({ mac }) => mac === '02:00:00:00:01:01')
        ? answer(request)
        : undefined;
    const sources = new BizSources(fixture);
    await sources.create('production-cluster-network', [named(1), named(2), named(3)]);
    fixture.run({ 'max-in-flight': '1' });
    const { status } = await sources.until(
      'production-cluster-network',
      (source) => source.status?.nodeStatuses?.[1]?.state === 'InProgress',
    );
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/) as string;
    expect(status).toMatchObject({
      observedGeneration: 1,
      observedSpecHash: 'hash of production-cluster-network',
      summary: { totalNodes: 3, configuredNodes: 1, failedNodes: 0, pendingNodes: 2 },
    });
    expect(status?.conditions?.find(({ type }) => type === 'InProgress')).toEqual({
      type: 'InProgress',
      status: 'True',
      observedGeneration: 1,
      lastTransitionTime: time,
      reason: 'ProcessingNodes',
      message: 'Processing network configurations for 3 nodes',
    });
    expect(status?.nodeStatuses).toEqual([
      {
        attachedNodeId: 'i-1',
        attachedNodeName: 'k8s-worker-01',
        state: 'Configured',
        lastProcessed: time,
        lastJobName: expect.stringMatching(/^multinic-agent-/) as string,
      },
      {
        attachedNodeId: 'i-2',
        attachedNodeName: 'k8s-worker-02',
        state: 'InProgress',
        lastProcessed: time,
      },
      { attachedNodeId: 'i-3', attachedNodeName: 'k8s-worker-03', state: 'Pending' },
    ]);
  });
});
