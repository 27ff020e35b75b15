import { describe, expect, it } from 'vitest';
import type { MultiNicNodeConfig } from '../../api/multinicnodeconfig.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { KubeError } from '../../kube/errors.ts';
import { createPerform } from '../../process/effects.ts';
import { createFakeClock } from '../../time/fake-clock.ts';
import type { Cluster } from '../clusters/clusters.ts';
import { postNodes } from './post-nodes.ts';

interface Setup {
  /** Duration per call (milliseconds). */
  readonly ms?: number;
  /** Object name whose calls exceed a request's time limit. */
  readonly stuck?: string;
  /** Number of foreign objects in the namespace. */
  readonly others?: number;
  readonly failLists?: boolean;
}

/** Returns an in-memory business cluster with slow, serial calls. */
function slowCluster({ ms = 1, stuck, others = 0, failLists = false }: Setup = {}) {
  const objects = new Map<string, MultiNicNodeConfig>();
  for (let n = 0; n < others; n++) put(`a-${n}`, { nodeName: `a-${n}` });
  const calls: string[] = [];
  let elapsed = 0;

  function put(name: string, spec: unknown, version = 1, meta = {}) {
    const metadata = {
      ...meta,
      name,
      uid: `u-${name}`,
      generation: 1,
      resourceVersion: `${version}`,
    };
    const object = { metadata, spec } as MultiNicNodeConfig;
    objects.set(name, object);
    return object;
  }

  function take(call: string, name = ''): void {
    calls.push(call);
    elapsed += name === stuck ? 26_000 : ms;
  }

  const client = {
    list: async (_: unknown, { limit = 0, continue: token = '0' }) => {
      take('list');
      if (failLists) throw new KubeError({ status: 403, reason: 'Forbidden', message: 'no' });
      const from = Number(token);
      const items = [...objects.values()].slice(from, from + limit);
      const more = from + limit < objects.size;
      return { items, ...(more ? { continue: String(from + limit) } : {}) };
    },
    find: async (_: unknown, { name }: { readonly name: string }) => {
      take('find', name);
      return objects.get(name);
    },
    apply: async (_: unknown, { metadata, spec }: MultiNicNodeConfig) => {
      take('apply', metadata.name);
      const live = objects.get(metadata.name)?.metadata.resourceVersion ?? '1';
      if (live !== metadata.resourceVersion) {
        throw new KubeError({ status: 409, reason: 'Conflict', message: 'moved' });
      }
      return put(metadata.name, spec, Number(live) + 1, metadata);
    },
    version: async () => take('version'),
  };
  const cluster: Cluster = {
    client: client as unknown as KubeClient,
    namespace: 'n',
    providerId: 'biz-1',
    server: '',
  };
  const options = {
    clock: { ...createFakeClock(), monotonicMs: () => elapsed },
    perform: createPerform<string>(() => undefined),
    signal: new AbortController().signal,
    acceptUnfenced: false,
    takeOver: false,
    parallel: 1,
  };
  return {
    objects,
    calls,
    put,
    post: async (set: readonly unknown[]) => {
      calls.length = 0;
      return postNodes(cluster, set, options);
    },
  };
}

function nodes(count: number) {
  return Array.from({ length: count }, (_, n) => ({
    nodeName: `n${String(n).padStart(3, '0')}`,
    interfaces: [],
  }));
}

describe('repeated POST with the same node set', () => {
  it('[C15] repeated POSTs of 100 nodes complete in a slow cluster', async () => {
    const { post, objects } = slowCluster({ ms: 1_800 });
    for (let round = 0; round < 10; round++) await post(nodes(100));
    expect(objects.size).toBe(100);
    const { applied, errors } = await post(nodes(100));
    expect([applied, errors.length]).toEqual([100, 0]);
  });

  it('[C15] repeated POSTs of 16 nodes complete in a slow cluster, without lists', async () => {
    const { post, objects, calls } = slowCluster({ ms: 3_000 });
    for (let round = 0; round < 6; round++) await post(nodes(16));
    expect(objects.size).toBe(16);
    expect(calls).not.toContain('list');
  });

  it('[C15] repeated POSTs complete all nodes behind a node that uses up the time limit', async () => {
    const { post, objects } = slowCluster({ ms: 100, stuck: 'n000' });
    await post(nodes(16));
    expect(objects.size).toBe(0);
    await post(nodes(16));
    expect(objects.size).toBe(15);
  });

  it('[C15] the answer lists nodes in posted order', async () => {
    const { post } = slowCluster({ ms: 3_000 });
    await post(nodes(16));
    const { results, errors } = await post(nodes(16));
    const names = results.map(({ nodeName }) => nodeName);
    expect(names).toEqual(names.toSorted());
    expect(results.length + errors.length).toBe(16);
    expect(names).not.toContain('n015');
    expect(names).toContain('n005');
  });

  it('[C15] a repeated set resumes where it stopped, despite another set in between', async () => {
    const { post, objects } = slowCluster({ ms: 3_000 });
    for (let round = 0; round < 6; round++) {
      await post(nodes(16));
      await post([{ nodeName: 'other', interfaces: [] }]);
    }
    expect(objects.size).toBe(17);
  });
});

describe('POST with more than 20 nodes', () => {
  it('[C15] a set with more than 20 nodes is read by lists', async () => {
    const { post, calls } = slowCluster();
    await post(nodes(600));
    expect(calls.filter((call) => call === 'find')).toEqual([]);
    const { results } = await post(nodes(600));
    expect(results.every(({ status }) => status === 'unchanged')).toBe(true);
    expect(calls).toEqual(['list', 'list', 'list']);
  });

  it('[C15] a set is read by single GETs when listing the namespace would cost more', async () => {
    const { post, calls } = slowCluster({ others: 5_000 });
    const { applied } = await post(nodes(25));
    expect(applied).toBe(25);
    expect(calls.filter((call) => call === 'list')).toHaveLength(3);
    expect(calls.filter((call) => call === 'find')).toHaveLength(25);
  });

  it('[C15] a set is read by single GETs when lists are forbidden', async () => {
    const { post, calls } = slowCluster({ failLists: true });
    const { applied } = await post(nodes(25));
    expect(applied).toBe(25);
    expect(calls.filter((call) => call === 'find')).toHaveLength(25);
  });

  it('[C15] a large set writes only changed nodes, based on the latest object', async () => {
    const { post, calls, put } = slowCluster();
    await post(nodes(25));
    put('n003', { nodeName: 'n003', interfaces: [{ macAddress: 'fa:16:3e:00:00:01' }] }, 9);
    const { results } = await post(nodes(25));
    expect(results.filter(({ status }) => status === 'updated')).toMatchObject([
      { nodeName: 'n003' },
    ]);
    expect(calls).toEqual(['list', 'apply']);
  });
});
