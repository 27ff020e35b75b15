import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  namespace,
  postedNode as node,
  registrations,
  ViolaFixture,
} from '../../test/fixtures/viola.ts';
import { annotations } from '../api/names.ts';
import { clusters, existingNodeConfig } from '../api/node-configs-http.ts';
import { secrets } from '../kube/core-resources.ts';
import { nodeConfigs } from './node-config.ts';

const ref = { namespace, name: 'worker-1' };
let bed: ViolaFixture;

beforeAll(async () => {
  bed = await ViolaFixture.start();
});

afterEach(() => bed.reset());

afterAll(() => bed[Symbol.asyncDispose]());

describe('who may', () => {
  it.each([
    ['nobody without a token', '', 'biz-1', 401],
    ['nobody with an unknown token', 'guess', 'biz-1', 401],
    ['not a token of another cluster', 'other', 'biz-1', 403],
    ['not a read-only token', 'ro', 'biz-1', 403],
    ['not towards a cluster that is not registered', 'rw', 'biz-9', 404],
    ['not without naming the cluster', 'rw', '', 400],
  ])('may post: %s', async (_who, token, provider, status) => {
    expect((await bed.post([node], { token, provider })).status).toBe(status);
    expect((await bed.call('DELETE', '/Worker_1', { token, provider })).status).toBe(status);
    expect(bed.writes).toEqual([]);
  });

  it('may read with a read-only token', async () => {
    expect((await bed.get('', { token: 'ro' })).status).toBe(200);
  });

  it('learns of no cluster that the token is not for', async () => {
    const { body } = await bed.get('/v1/k8s/clusters', { token: 'other' });
    expect(clusters.parse(body).items).toEqual([]);
    expect((await bed.post([node], { token: 'other', provider: 'biz-9' })).status).toBe(403);
  });
});

describe('GET node-configs', () => {
  it('pages, keeps answers for a moment, and reads through when asked to', async () => {
    await bed.post([node, { nodeName: 'n2' }, { nodeName: 'n3' }]);
    const first = await bed.list('?limit=2');
    expect(first.items.map(({ nodeName }) => nodeName)).toEqual(['n2', 'n3']);
    const rest = await bed.list(`?limit=2&continue=${first.continue}`);
    expect(rest.items.map(({ nodeName }) => nodeName)).toEqual(['Worker_1']);
    await bed.admin.delete(nodeConfigs, { namespace, name: 'n3' });
    expect((await bed.list('?limit=2')).observedAt).toBe(first.observedAt);
    const fresh = await bed.list('?limit=2&fresh=true');
    expect(fresh.items.map(({ nodeName }) => nodeName)).toEqual(['n2', 'Worker_1']);
  });

  it('answers 304 with the token of the next page while a page has the same items', async () => {
    await bed.post([node, { nodeName: 'n2' }, { nodeName: 'n3' }]);
    const first = await bed.get('?limit=2');
    const tag = String(first.headers['etag']);
    const again = async (query: string, ifNoneMatch: string) => {
      const { status, headers } = await bed.get(`?limit=2${query}`, {
        'if-none-match': ifNoneMatch,
      });
      return [status, headers['etag'], String(headers['x-continue']) !== ''];
    };
    // A read after an unrelated write has another continue token.
    await bed.admin.create(secrets, { metadata: { namespace, name: 'unrelated' } });
    expect(await again('', tag)).toEqual([304, tag, true]);
    expect(await again('&fresh=true', tag)).toEqual([304, tag, true]);
    expect(await again('&fresh=true', `"other", ${tag.slice(2)}`)).toEqual([304, tag, true]);
    expect(await again('', '"other"')).toEqual([200, tag, true]);
    const rest = (await bed.list('?limit=2&fresh=true')).continue ?? '';
    const last = await bed.get(`?limit=2&continue=${rest}`);
    expect(last.headers).toMatchObject({
      etag: expect.not.stringContaining(tag) as unknown,
      'x-continue': '',
    });

    await bed.post([{ nodeName: 'n2', interfaces: [] }]);
    const unchanged = await bed.get('?limit=2', { 'if-none-match': tag });
    expect(unchanged.status).toBe(304);
    await bed.admin.delete(nodeConfigs, { namespace, name: 'n2' });
    const changed = await bed.get('?limit=2&fresh=true', { 'if-none-match': tag });
    expect(changed.status).toBe(200);
    expect(changed.headers['etag']).not.toBe(tag);
  });

  it('shows what was just posted', async () => {
    await bed.get('');
    await bed.post([node]);
    expect((await bed.list('')).items).toHaveLength(1);
  });

  it('tells that a continue token has expired', async () => {
    await bed.post([node, { nodeName: 'n2' }]);
    const first = await bed.list('?limit=1&fresh=true');
    await bed.post([{ nodeName: 'n3' }]);
    bed.api.faults.compact();
    const late = await bed.get(`?limit=1&continue=${first.continue}`);
    expect(late).toMatchObject({ status: 400, body: { code: 'ContinueExpired' } });
  });

  it('shows one node with its provenance and status, by the name it was posted with', async () => {
    const source = { namespace, name: 'demo', uid: 'u', generation: 3 };
    await bed.post([{ ...node, base: null, source }]);
    await bed.admin.patchStatus(nodeConfigs, ref, { status: { state: 'Configured' } });
    const { body } = await bed.get('/Worker_1');
    expect(existingNodeConfig.parse(body)).toMatchObject({
      nodeName: 'Worker_1',
      generation: 1,
      source,
      status: { state: 'Configured' },
    });
    expect(await bed.get('/nobody')).toMatchObject({ status: 404, body: { code: 'NoSuchNode' } });
  });
});

describe('GET node-configs of some', () => {
  const source = { namespace, name: 'demo', uid: 'u', generation: 1 };
  const another = { ...node, nodeName: 'n2', instanceId: 'server-2', interfaces: [] };

  it.each([
    ['a source', '?source=multinic-system/demo', ['Worker_1']],
    ['a server, whatever its case', `?instanceId=SERVER-2`, ['n2']],
    ['several servers', `?instanceId=server-2&instanceId=${node.instanceId}`, ['n2', 'Worker_1']],
    [
      'a source or a server',
      '?source=multinic-system/demo&instanceId=server-2',
      ['n2', 'Worker_1'],
    ],
    ['another source', '?source=default/demo', []],
    ['no server that is there', '?instanceId=server-9', []],
  ])('answers those of %s', async (_what, query, names) => {
    await bed.post([{ ...node, base: null, source }, another, { nodeName: 'n3', interfaces: [] }]);
    const { items } = await bed.list(query);
    expect(items.map(({ nodeName }) => nodeName)).toEqual(names);
  });

  it('refuses a source that names no OpenstackConfig, and a token that is no page', async () => {
    expect((await bed.get('?source=demo')).status).toBe(400);
    expect(await bed.get('?continue=nonsense')).toMatchObject({
      status: 400,
      body: { code: 'InvalidRequest' },
    });
  });

  it('tells the callers of one page apart without reading it twice', async () => {
    await bed.post([another]);
    await bed.list('?instanceId=server-2');
    const before = bed.api.audit.length;
    expect((await bed.list('?instanceId=server-9')).items).toEqual([]);
    expect(bed.api.audit.length).toBe(before);
  });
});

/** Changes what is stored, as an earlier, looser schema let it in. */
function storedAs(name: string, change: object): void {
  const stored = bed.api
    .objects('multinicnodeconfigs.multinic.io', namespace)
    .find(({ metadata }) => metadata.name === name);
  Object.assign(stored ?? {}, change);
}

describe('an object that cannot be read', () => {
  it.each([
    ['a NIC', { spec: { nodeName: 'n2', interfaces: [{ macAddress: 'fa-16', mtu: 'x' }] } }],
    ['its node name', { spec: { nodeName: 7, interfaces: [] } }],
    ['its server id', { spec: { nodeName: 'n2', instanceId: 7 } }],
    ['its spec', { spec: undefined }],
  ])('hides no other, and is not taken for absent: %s', async (_what, change) => {
    await bed.post([node, { nodeName: 'n2', interfaces: [] }]);
    storedAs('n2', change);
    const { items, unreadable } = await bed.list('?fresh=true');
    expect(items.map(({ nodeName }) => nodeName)).toEqual(['Worker_1']);
    expect(unreadable).toMatchObject([{ objectName: 'n2' }]);
    expect(await bed.get('/n2')).toMatchObject({ status: 503, body: { code: 'Unreadable' } });
    const { answer } = await bed.post([{ nodeName: 'n2', instanceId: 'server-2', base: null }]);
    expect(answer.errors[0]?.message).toContain('the object n2 cannot be read');
  });
});

describe('an object that names no node', () => {
  const unnamed = { spec: { nodeName: '', providerId: 'biz-1', interfaces: [] } };

  beforeEach(async () => {
    await bed.post([node, { nodeName: 'n2', interfaces: [] }]);
    storedAs('n2', unnamed);
  });

  it('is known by its own name', async () => {
    const { items } = await bed.list('?fresh=true');
    expect(items.map(({ nodeName }) => nodeName)).toEqual(['n2', 'Worker_1']);
    expect(await bed.get('/n2')).toMatchObject({ status: 200, body: { nodeName: 'n2' } });
  });

  it('gets its name with the next write, and can be deleted', async () => {
    expect((await bed.post([{ nodeName: 'n2', interfaces: [] }])).status).toBe(200);
    expect((await bed.stored('n2')).spec.nodeName).toBe('n2');
    storedAs('n2', unnamed);
    expect((await bed.call('DELETE', '/n2')).status).toBe(202);
  });
});

it.each([undefined, ''])("an object of the provider %j is anybody's", async (providerId) => {
  await bed.post([node]);
  storedAs('worker-1', { spec: { nodeName: 'Worker_1', providerId } });
  expect((await bed.list('?fresh=true')).items).toHaveLength(1);
});

describe('names that come to one object', () => {
  it('are not mistaken for each other when one is read or deleted', async () => {
    await bed.post([node]);
    expect((await bed.get('/worker-1')).status).toBe(404);
    expect(await bed.call('DELETE', '/worker-1')).toMatchObject({
      status: 404,
      body: { code: 'NoSuchNode' },
    });
    expect((await bed.get('/Worker_1')).status).toBe(200);
  });
});

describe('a node that is renamed', () => {
  it('is the same one by its server id, in capitals or not', async () => {
    const instanceId = 'AC51B2FD-E595-4395-8FB1-F21D069523C0';
    await bed.post([node]);
    const { answer } = await bed.post([{ ...node, nodeName: 'worker-1', instanceId }]);
    expect(answer.results).toMatchObject([{ nodeName: 'worker-1', status: 'updated' }]);
  });
});

describe('two providers that are registered with one cluster and namespace', () => {
  const second = { provider: 'biz-2', token: 'other' };

  it('are both registered', async () => {
    await bed.register('biz-2', await bed.api.kubeconfig());
    await expect.poll(() => bed.providers).toContain('biz-2');
  });

  it('do not see, change or delete the nodes of each other', async () => {
    await bed.post([node]);
    expect((await bed.get('?fresh=true', second)).body).toMatchObject({ items: [] });
    expect((await bed.get('/Worker_1', second)).status).toBe(404);
    expect((await bed.call('DELETE', '/Worker_1', second)).status).toBe(404);
    const { status, answer } = await bed.post([{ ...node, interfaces: [] }], second);
    expect([status, answer.errors[0]?.field]).toEqual([422, 'providerId']);
    expect(answer.errors[0]?.message).toContain('belongs to provider "biz-1"');
    expect((await bed.stored()).spec.interfaces).toHaveLength(1);
  });

  it('may take an object that names no provider, or that is marked', async () => {
    const anybody = { nodeName: 'Worker_1', interfaces: [] };
    const fieldManager = 'kubectl-client-side-apply';
    await bed.admin.create(nodeConfigs, { metadata: ref, spec: anybody }, { fieldManager });
    expect((await bed.get('/Worker_1', second)).status).toBe(200);
    await bed.post([node]);
    expect((await bed.get('/Worker_1', second)).status).toBe(404);
    const marks = { metadata: { annotations: { [annotations.takeOver]: 'true' } } };
    await bed.admin.patch(nodeConfigs, ref, marks);
    expect((await bed.get('/Worker_1', second)).status).toBe(200);
  });
});

describe('a list that fails', () => {
  it('is not kept for those who ask next', async () => {
    const resource = 'multinicnodeconfigs.multinic.io';
    bed.api.faults.answer({ verb: 'list', resource, status: 500 });
    expect((await bed.get('?limit=7')).status).toBe(503);
    expect((await bed.get('?limit=7')).status).toBe(200);
  });
});

describe('registered clusters', () => {
  it('says of each whether it answers, and follows its Secret without a restart', async () => {
    await bed.register('biz-bad', 'not: [a kubeconfig');
    await expect.poll(() => bed.providers).toContain('biz-bad');
    const { items } = clusters.parse((await bed.get('/v1/k8s/clusters')).body);
    expect(items.find(({ providerId }) => providerId === 'biz-1')).toMatchObject({
      reachable: true,
      server: bed.api.url,
    });
    expect(items.find(({ providerId }) => providerId === 'biz-bad')).toMatchObject({
      reachable: false,
      message: expect.stringContaining('multinic-clusters/biz-bad') as unknown,
    });
    expect((await bed.post([node], { provider: 'biz-bad' })).status).toBe(503);

    const data = { kubeconfig: Buffer.from(await bed.api.kubeconfig()).toString('base64') };
    await bed.admin.patch(secrets, { namespace: registrations, name: 'biz-bad' }, { data });
    await expect
      .poll(async () => (await bed.post([node], { provider: 'biz-bad' })).status, {
        timeout: 10_000,
      })
      .toBe(200);
    await bed.admin.delete(secrets, { namespace: registrations, name: 'biz-bad' });
    await expect
      .poll(async () => (await bed.post([node], { provider: 'biz-bad' })).status, {
        timeout: 10_000,
      })
      .toBe(404);
  });

  it('refuses a cluster that two Secrets claim', async () => {
    await bed.register('biz-twice', await bed.api.kubeconfig(), 'one');
    await bed.register('biz-twice', await bed.api.kubeconfig(), 'two');
    await expect
      .poll(async () => (await bed.post([node], { provider: 'biz-twice' })).status, {
        timeout: 10_000,
      })
      .toBe(503);
  });
});
