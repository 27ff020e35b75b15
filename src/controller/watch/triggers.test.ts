import { describe, expect, it } from 'vitest';
import {
  agentTask,
  instanceId,
  job,
  node,
  nodeConfig,
  pod,
} from '../../../test/fixtures/controller-samples.ts';
import type { Change } from '../../kube/cache/store.ts';
import type { Pod } from '../../kube/core-resources.ts';
import { createStores, type NodeConfig } from '../objects/stores.ts';
import {
  keysOfConfig,
  keysOfJob,
  keysOfLegacyJob,
  keysOfNode,
  keysOfWorkload,
} from './triggers.ts';

const config = nodeConfig();
const duplicate = nodeConfig({
  metadata: { name: 'renamed', uid: 'uid-2' },
  spec: { nodeName: 'x' },
});
const nameless = (name: string) =>
  nodeConfig({
    metadata: { name, uid: `uid-of-${name}` },
    spec: { nodeName: name, instanceId: undefined },
  });

function storesOf(...configs: readonly NodeConfig[]) {
  const stores = createStores();
  for (const one of configs) stores.configs.upsert(one);
  return stores;
}

const admission = { request: () => ({ granted: false, why: '' }) as const, wake: () => ['a/b'] };
const agents = {
  admission,
  namespace: 'multinic-system',
  recordsOf: () => [],
  configs: { byInstanceId: () => [], byNodeName: () => [] },
};
const own = 'multinic-system/worker-1';

describe('a changed object', () => {
  it('an added object enqueues every object for the same node', () => {
    const added = { type: 'added', key: own, object: config } as const;
    expect(keysOfConfig(storesOf(config, duplicate), added)).toEqual([
      own,
      'multinic-system/renamed',
    ]);
  });

  it('an object matching a node by systemUUID enqueues an object matching by name', () => {
    const stores = storesOf(duplicate, nameless('worker-1'));
    stores.nodes.upsert(node('worker-1', instanceId));
    const added = { type: 'added', key: 'multinic-system/renamed', object: duplicate } as const;
    expect(keysOfConfig(stores, added)).toContain(own);
  });

  it('an updated object with the same node reference enqueues only itself', () => {
    const change = { type: 'updated', key: own, object: config, previous: config } as const;
    expect(keysOfConfig(storesOf(config, duplicate), change)).toEqual([own]);
  });

  it('an object entering deletion enqueues its duplicates', () => {
    const deletionTimestamp = '2026-01-01T00:00:00Z';
    const object = nodeConfig({ metadata: { deletionTimestamp } });
    const change = { type: 'updated', key: own, object, previous: config } as const;
    expect(keysOfConfig(storesOf(object, duplicate), change)).toContain('multinic-system/renamed');
  });

  it('an object without an instance id does not enqueue others without an instance id', () => {
    const added = { type: 'added', key: 'multinic-system/a', object: nameless('a') } as const;
    expect(keysOfConfig(storesOf(nameless('a'), nameless('b')), added)).toEqual([
      'multinic-system/a',
    ]);
  });
});

/** Returns a Node that has been Ready since this time. */
function readySince(lastTransitionTime: string) {
  const one = node('worker-1', instanceId);
  const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime }];
  return { ...one, status: { ...one.status, conditions } };
}

describe('a changed Node', () => {
  const here = node('worker-1', instanceId);

  it('an added Node enqueues objects matching its systemUUID or name', () => {
    const added = { type: 'added', key: 'worker-1', object: node('other', instanceId) } as const;
    expect(keysOfNode(storesOf(config, nameless('b')), admission, added)).toEqual([own]);
    const named = { type: 'added', key: 'b', object: node('b', 'any') } as const;
    expect(keysOfNode(storesOf(config, nameless('b')), admission, named)).toEqual([
      'multinic-system/b',
    ]);
  });

  it('a status-only Node update enqueues nothing', () => {
    const change = { type: 'updated', key: 'worker-1', object: here, previous: here } as const;
    expect(keysOfNode(storesOf(config), admission, change)).toEqual([]);
  });

  it('a Node with a new Ready transition time enqueues its objects', () => {
    const [previous, object] = [readySince('monday'), readySince('tuesday')];
    const change = { type: 'updated', key: 'worker-1', object, previous } as const;
    expect(keysOfNode(storesOf(config), admission, change)).toContain(own);
  });

  it('a Node with a changed systemUUID enqueues objects for both values', () => {
    const object = node('worker-1', 'new');
    const change = { type: 'updated', key: 'worker-1', object, previous: here } as const;
    expect(keysOfNode(storesOf(config), admission, change)).toContain(own);
  });
});

describe('a changed Job', () => {
  const complete = { conditions: [{ type: 'Complete', status: 'True' }] };

  it('a changed Job enqueues its object, and waiting objects when finished or deleted', () => {
    const open = { type: 'added', key: 'k', object: job(agentTask()) } as const;
    expect(keysOfJob(agents, open)).toEqual([own]);
    const ended = { ...open, object: job(agentTask(), { status: complete }) };
    expect(keysOfJob(agents, ended)).toEqual([own, 'a/b']);
    expect(keysOfJob(agents, { ...open, type: 'deleted' })).toEqual([own, 'a/b']);
  });

  it('a Job for another namespace enqueues only waiting objects, when deleted', () => {
    const theirs = agentTask({ config: { namespace: 'elsewhere', name: 'worker-1' } });
    const open = { type: 'added', key: 'k', object: job(theirs) } as const;
    expect(keysOfJob(agents, open)).toEqual([]);
    expect(keysOfJob(agents, { ...open, type: 'deleted' })).toEqual(['a/b']);
  });

  it("starting and stopping the legacy controller's Pod enqueues every object", () => {
    const stores = storesOf(config);
    const spec = { containers: [{ name: 'c', command: ['./multinic-controller'] }] };
    const theirs = { ...pod({ phase: 'Running' }), spec } as Pod;
    const ended = { ...theirs, status: { phase: 'Failed' } } as Pod;
    const other = pod({ phase: 'Running' });
    const keys = (change: object) => keysOfWorkload(stores, { key: 'k', ...change } as Change<Pod>);
    expect(keys({ type: 'added', object: theirs })).toEqual([own]);
    expect(keys({ type: 'updated', object: theirs, previous: theirs })).toEqual([]);
    expect(keys({ type: 'updated', object: ended, previous: theirs })).toEqual([own]);
    expect(keys({ type: 'deleted', object: theirs })).toEqual([own]);
    expect(keys({ type: 'deleted', object: ended })).toEqual([]);
    expect(keys({ type: 'added', object: other })).toEqual([]);
    expect(keys({ type: 'updated', object: other, previous: other })).toEqual([]);
    expect(keys({ type: 'deleted', object: other })).toEqual([]);
  });

  it('adding a legacy Job enqueues every object, a finished one only waiting objects', () => {
    const theirs = { type: 'added', key: 'k', object: job(agentTask()) } as const;
    expect(keysOfLegacyJob(storesOf(config), admission, theirs)).toEqual([own]);
    const object = job(agentTask(), { status: complete });
    const ended = { ...theirs, type: 'updated', object, previous: object } as const;
    expect(keysOfLegacyJob(storesOf(config), admission, ended)).toEqual(['a/b']);
  });
});
