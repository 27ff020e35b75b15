import { type AddressInfo, createServer } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { postedNode as node, ViolaFixture } from '../../../test/fixtures/viola.ts';
import { nodeConfigs } from '../node-configs/node-config.ts';

const kind = 'multinicnodeconfigs.multinic.io';
const results = { prefer: 'multinic-results' };
let bed: ViolaFixture;

beforeAll(async () => {
  bed = await ViolaFixture.start();
});

afterEach(() => bed.reset());

afterAll(() => bed[Symbol.asyncDispose]());

describe('unavailable business cluster', () => {
  it('a POST to an unreachable cluster gets 503 with an error for every node', async () => {
    const kubeconfig = await bed.api.kubeconfig();
    await bed.register('biz-down', kubeconfig.replace(/127\.0\.0\.1:\d+/, '127.0.0.1:1'));
    await expect.poll(() => bed.providers).toContain('biz-down');
    const nodes = Array.from({ length: 20 }, (_, i) => ({ ...node, nodeName: `n-${i}` }));
    const { status, answer } = await bed.post(nodes, { provider: 'biz-down' });
    expect(status).toBe(503);
    expect(new Set(answer.errors.map(({ code }) => code))).toEqual(new Set(['ClusterUnreachable']));
    expect(answer.errors).toHaveLength(20);
  });

  it('a cluster that closes connections receives few requests, however many nodes are posted', async () => {
    let connections = 0;
    const closer = createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => closer.listen(0, '127.0.0.1', resolve));
    const { port } = closer.address() as AddressInfo;
    const kubeconfig = await bed.api.kubeconfig();
    await bed.register('biz-closed', kubeconfig.replace(/127\.0\.0\.1:\d+/, `127.0.0.1:${port}`));
    await expect.poll(() => bed.providers).toContain('biz-closed');
    const nodes = Array.from({ length: 40 }, (_, i) => ({ ...node, nodeName: `n-${i}` }));
    expect((await bed.post(nodes, { provider: 'biz-closed' })).status).toBe(503);
    await new Promise((resolve) => closer.close(resolve));
    // One list, plus one node and one version request for each of four workers, with four tries each.
    expect(connections).toBeLessThanOrEqual((1 + 4 * 2) * 4);
  });

  it('a cluster that rejects our credentials gets 503', async () => {
    await bed.register(
      'biz-expired',
      await bed.api.kubeconfig({ server: bed.api.url, token: () => Promise.resolve('old') }),
    );
    await expect.poll(() => bed.providers).toContain('biz-expired');
    expect((await bed.post([node], { provider: 'biz-expired' })).status).toBe(503);
  });

  it('a failing node does not prevent writes to other nodes, in any order', async () => {
    const names = Array.from({ length: 20 }, (_, i) => `n${String(i).padStart(2, '0')}`);
    const nodes = names.map((nodeName) => ({ nodeName, interfaces: [] }));
    bed.api.faults.answer({ verb: 'patch', resource: kind, name: 'n03', status: 500, times: 99 });
    for (const body of [nodes, nodes.toReversed(), nodes]) {
      const { status, answer } = await bed.post(body, results);
      expect([status, answer.applied]).toEqual([200, 19]);
      expect(answer.errors).toMatchObject([{ nodeName: 'n03', code: 'Internal' }]);
    }
    const stored = await bed.admin.listAll(nodeConfigs);
    const others = names.filter((name) => name !== 'n03');
    expect(stored.items.map(({ metadata }) => metadata.name)).toEqual(others);
  });

  it('all nodes are tried when the workers outnumber the nodes', async () => {
    bed.api.faults.answer({ verb: 'patch', resource: kind, name: 'b', status: 500, times: 99 });
    const nodes = ['a', 'b', 'c'].map((nodeName) => ({ nodeName, interfaces: [] }));
    const { answer } = await bed.post(nodes, results);
    expect(answer.results.map(({ nodeName }) => nodeName)).toEqual(['a', 'c']);
  });

  it('one node answered with 401 does not stop writes to a reachable cluster', async () => {
    bed.api.faults.answer({ verb: 'get', resource: kind, name: 'n00', status: 401 });
    const nodes = Array.from({ length: 20 }, (_, i) => ({
      nodeName: `n${String(i).padStart(2, '0')}`,
      interfaces: [],
    }));
    const { answer } = await bed.post(nodes, results);
    expect(answer.errors).toMatchObject([{ nodeName: 'n00', code: 'ClusterUnreachable' }]);
    expect(answer.applied).toBe(19);
  });

  it('a timeout for one node does not prevent writes to other nodes', async () => {
    bed.api.faults.delay({ verb: 'get', resource: kind, name: 'n01', ms: 2500, times: 99 });
    const nodes = Array.from({ length: 20 }, (_, i) => ({
      nodeName: `n${String(i).padStart(2, '0')}`,
      interfaces: [],
    }));
    const { answer } = await bed.post(nodes, results);
    expect(answer.errors).toMatchObject([{ nodeName: 'n01', code: 'ClusterUnreachable' }]);
    expect(answer.applied).toBe(19);
  });

  it('a POST with a lost answer creates the object once, and the retry reports unchanged', async () => {
    bed.api.faults.lose({ verb: 'patch', resource: kind, when: 'after' });
    const { status, answer } = await bed.post([{ ...node, base: null }]);
    expect(status).toBe(200);
    expect(answer.results[0]?.generation).toBe(1);
    expect((await bed.post([{ ...node, base: null }])).answer.results[0]?.status).toBe('unchanged');
  });
});
