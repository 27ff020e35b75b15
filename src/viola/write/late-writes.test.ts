import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FaultProxy, startFaultProxy } from '../../../rig/fault-proxy/fault-proxy.ts';
import { postedNode, ViolaFixture, writer } from '../../../test/fixtures/viola.ts';
import { nodeConfigsPath } from '../../api/node-configs-http.ts';
import { listen } from '../../http/server.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { createPerform } from '../../process/effects.ts';
import { createFakeClock, until } from '../../time/fake-clock.ts';
import { nodeConfigs } from '../node-configs/node-config.ts';
import { deleteNode } from './delete-node.ts';
import { postNodes } from './post-nodes.ts';
import { beginWrites } from './write-limit.ts';

describe('caller disconnect while the API server hangs', () => {
  let bed: ViolaFixture;
  /** Fault proxy between Viola and the business cluster's API server. */
  let proxy: FaultProxy;
  let url: string;
  /** Number of proxied requests before the test. */
  let before: number;
  const stop = new AbortController();

  beforeAll(async () => {
    bed = await ViolaFixture.start();
    const access = bed.api.accessAs(writer);
    proxy = await startFaultProxy({ target: access.server });
    await bed.register('biz-hung', await bed.api.kubeconfig(proxy.through(access)));
    await until('the cluster is registered', () => bed.providers.includes('biz-hung'));
    ({ url } = await listen(bed.app, { host: '127.0.0.1', port: 0 }, stop.signal));
  });

  beforeEach(() => {
    before = proxy.requests.length;
  });

  afterEach(async () => {
    proxy.clear();
    await bed.reset();
  });

  afterAll(async () => {
    stop.abort(new Error('done'));
    await proxy.close();
    await bed[Symbol.asyncDispose]();
  });

  function post(names: readonly string[], signal?: AbortSignal) {
    return fetch(`${url}${nodeConfigsPath}`, {
      method: 'POST',
      headers: {
        authorization: 'Bearer rw',
        'x-provider-id': 'biz-hung',
        'content-type': 'application/json',
      },
      body: JSON.stringify(names.map((nodeName) => ({ nodeName, interfaces: [] }))),
      ...(signal ? { signal } : {}),
    });
  }

  /** Posts `names`, disconnects after the fault rule matched `met` requests, then posts another node. */
  async function leaveAfter(met: number, names: readonly string[]): Promise<void> {
    const leave = new AbortController();
    const left = post(names, leave.signal);
    await expect.poll(() => proxy.rules[0]?.met).toBe(met);
    leave.abort();
    await expect(left).rejects.toThrow();
    await expect.poll(() => hasNoCaller()).toBe(true);
    expect((await post(['last'])).status).toBe(200);
  }

  async function hasNoCaller(): Promise<boolean> {
    return new Promise((resolve) =>
      bed.app.server.getConnections((_, open) => resolve(open === 0)),
    );
  }

  const written = () =>
    proxy.requests
      .slice(before)
      .filter(({ method }) => method === 'PATCH')
      .map(nameIn);
  const names = Array.from({ length: 12 }, (_, i) => `n${i}`);

  it('Viola writes nothing if the caller disconnects during the reads', async () => {
    // The last node's read takes equally long, so the earlier reads have finished by then.
    proxy.add({ fault: 'delay', method: 'GET', ms: 300 });
    await leaveAfter(4, names);
    expect(written()).toEqual(['last']);
  });

  it('Viola finishes only writes in progress, one per worker, after the caller disconnects', async () => {
    proxy.add({ fault: 'lost-answer', method: 'PATCH', path: '/n[0-9]' });
    await leaveAfter(4, names);
    expect(new Set(written())).toEqual(new Set(['last', 'n0', 'n1', 'n2', 'n3']));
    const { items } = await bed.admin.listAll(nodeConfigs);
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['last', 'n0', 'n1', 'n2', 'n3']);
  });
});

function nameIn({ path }: { readonly path: string }): string | undefined {
  return new URL(path, 'http://proxy').pathname.split('/').at(-1);
}

/** After a standstill a process handles pending replies before its timers. */
describe("process standstill beyond the callers' timeout", () => {
  const ref = { name: 'worker-1', namespace: 'n', uid: 'u', resourceVersion: '7', generation: 1 };
  const live = { metadata: ref, spec: { nodeName: postedNode.nodeName, interfaces: [] } };

  /** Returns a cluster whose reads take `ms`, and which records writes. */
  function standstill(ms: number) {
    const writes: string[] = [];
    let elapsed = 0;
    const clock = { ...createFakeClock(), monotonicMs: () => elapsed };
    const note = (verb: string) => async () => {
      writes.push(verb);
      return live;
    };
    const find = async () => {
      elapsed += ms;
      return live;
    };
    const client = { find, apply: note('apply'), patch: note('patch'), delete: note('delete') };
    const cluster = {
      client: client as unknown as KubeClient,
      namespace: 'n',
      providerId: 'biz-1',
      server: '',
    };
    const options = {
      clock,
      perform: createPerform(() => undefined),
      signal: new AbortController().signal,
      acceptUnfenced: false,
      takeOver: false,
      parallel: 1,
    };
    return { cluster, writes, options };
  }

  it.each([
    [24_000, ['apply'], []],
    [26_000, [], ['ClusterUnreachable']],
  ])('a standstill of %d ms leads to writes %j', async (ms, writes, codes) => {
    const still = standstill(ms);
    const { errors } = await postNodes(still.cluster, [postedNode], still.options);
    expect(still.writes).toEqual(writes);
    expect(errors.map(({ code }) => code)).toEqual(codes);
  });

  it('an aborted POST rejects with the abort reason instead of node errors', async () => {
    const { cluster, writes, options } = standstill(1);
    const signal = AbortSignal.abort(new Error('the caller left'));
    const posted = postNodes(cluster, [postedNode], { ...options, signal });
    await expect(posted).rejects.toThrow('the caller left');
    expect(writes).toEqual([]);
  });

  it('DELETE writes nothing after the time limit', async () => {
    const { cluster, writes, options } = standstill(26_000);
    const deleted = beginWrites(options)((limited) =>
      deleteNode(cluster, postedNode.nodeName, undefined, { ...options, ...limited }),
    );
    await expect(deleted).rejects.toThrow('25 s');
    expect(writes).toEqual([]);
  });
});
