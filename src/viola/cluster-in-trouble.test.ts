import { type AddressInfo, createServer } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { postedNode as node, ViolaFixture } from '../../test/fixtures/viola.ts';
import { nodeConfigs } from './node-config.ts';

const kind = 'multinicnodeconfigs.multinic.io';
const results = { prefer: 'multinic-results' };
let bed: ViolaFixture;

beforeAll(async () => {
  bed = await ViolaFixture.start();
});

afterEach(() => bed.reset());

afterAll(() => bed[Symbol.asyncDispose]());

describe('a business cluster in trouble', () => {
  it('that does not answer is a 503 that names every node', async () => {
    const kubeconfig = await bed.api.kubeconfig();
    await bed.register('biz-down', kubeconfig.replace(/127\.0\.0\.1:\d+/, '127.0.0.1:1'));
    await expect.poll(() => bed.providers).toContain('biz-down');
    const nodes = Array.from({ length: 20 }, (_, i) => ({ ...node, nodeName: `n-${i}` }));
    const { status, answer } = await bed.post(nodes, { provider: 'biz-down' });
    expect(status).toBe(503);
    expect(new Set(answer.errors.map(({ code }) => code))).toEqual(new Set(['ClusterUnreachable']));
    expect(answer.errors).toHaveLength(20);
  });

  it('is asked no more once nobody answers there, however many nodes are posted', async () => {
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
    // One list, four workers with one node each and the question whether anybody is there, four tries for each.
    expect(connections).toBeLessThanOrEqual((1 + 4 * 2) * 4);
  });

  it('that does not know the credentials any more is 503 too', async () => {
    await bed.register(
      'biz-expired',
      await bed.api.kubeconfig({ server: bed.api.url, token: () => Promise.resolve('old') }),
    );
    await expect.poll(() => bed.providers).toContain('biz-expired');
    expect((await bed.post([node], { provider: 'biz-expired' })).status).toBe(503);
  });

  it('that fails for one node keeps none of the others, however often all are posted', async () => {
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

  it('writes the third of three nodes too when there are more workers than nodes', async () => {
    bed.api.faults.answer({ verb: 'patch', resource: kind, name: 'b', status: 500, times: 99 });
    const nodes = ['a', 'b', 'c'].map((nodeName) => ({ nodeName, interfaces: [] }));
    const { answer } = await bed.post(nodes, results);
    expect(answer.results.map(({ nodeName }) => nodeName)).toEqual(['a', 'c']);
  });

  it('that is there after all is not given up for the failure of one node', async () => {
    bed.api.faults.answer({ verb: 'get', resource: kind, name: 'n00', status: 401 });
    const nodes = Array.from({ length: 20 }, (_, i) => ({
      nodeName: `n${String(i).padStart(2, '0')}`,
      interfaces: [],
    }));
    const { answer } = await bed.post(nodes, results);
    expect(answer.errors).toMatchObject([{ nodeName: 'n00', code: 'ClusterUnreachable' }]);
    expect(answer.applied).toBe(19);
  });

  it('that does not answer for one node in time keeps none of the others', async () => {
    bed.api.faults.delay({ verb: 'get', resource: kind, name: 'n01', ms: 2500, times: 99 });
    const nodes = Array.from({ length: 20 }, (_, i) => ({
      nodeName: `n${String(i).padStart(2, '0')}`,
      interfaces: [],
    }));
    const { answer } = await bed.post(nodes, results);
    expect(answer.errors).toMatchObject([{ nodeName: 'n01', code: 'ClusterUnreachable' }]);
    expect(answer.applied).toBe(19);
  });

  it('whose answer gets lost has the object once, and the repeated POST finds it', async () => {
    bed.api.faults.lose({ verb: 'patch', resource: kind, when: 'after' });
    const { status, answer } = await bed.post([{ ...node, base: null }]);
    expect(status).toBe(200);
    expect(answer.results[0]?.generation).toBe(1);
    expect((await bed.post([{ ...node, base: null }])).answer.results[0]?.status).toBe('unchanged');
  });
});
