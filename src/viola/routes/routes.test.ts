import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  namespace,
  postedNode as node,
  registrations,
  ViolaFixture,
} from '../../../test/fixtures/viola.ts';
import { annotations } from '../../api/names.ts';
import { clusters, existingNodeConfig } from '../../api/node-configs-http.ts';
import { configMaps, secrets } from '../../kube/core-resources.ts';
import { nodeConfigs } from '../node-configs/node-config.ts';

const ref = { namespace, name: 'worker-1' };
let bed: ViolaFixture;

beforeAll(async () => {
  bed = await ViolaFixture.start();
});

afterEach(() => bed.reset());

afterAll(() => bed[Symbol.asyncDispose]());

describe('authorization', () => {
  it.each([
    ['without a token', '', 'biz-1', 401],
    ['with an unknown token', 'guess', 'biz-1', 401],
    ["with another cluster's token", 'other', 'biz-1', 403],
    ['with a read-only token', 'ro', 'biz-1', 403],
    ['for an unregistered cluster', 'rw', 'biz-9', 404],
    ['without a provider header', 'rw', '', 400],
  ])('POST and DELETE are refused: %s', async (_who, token, provider, status) => {
    expect((await bed.post([node], { token, provider })).status).toBe(status);
    expect((await bed.call('DELETE', '/Worker_1', { token, provider })).status).toBe(status);
    expect(bed.writes).toEqual([]);
  });

  it('a read-only token may read', async () => {
    expect((await bed.get('', { token: 'ro' })).status).toBe(200);
  });

  it("the cluster list and errors reveal no clusters outside the token's providers", async () => {
    const { body } = await bed.get('/v1/k8s/clusters', { token: 'other' });
    expect(clusters.parse(body).items).toEqual([]);
    expect((await bed.post([node], { token: 'other', provider: 'biz-9' })).status).toBe(403);
  });
});

it.each([
  ['a line feed', 'w1\nlevel=error'],
  ['a line feed at its end', 'w1\n'],
  ['an escape', '\u001b[31mw1'],
  ['a C1 control', 'w1\u0085'],
])('a node name with %s is refused by every route without a write', async (_, name) => {
  const path = `/${encodeURIComponent(name)}`;
  const answers = [
    await bed.get(path),
    await bed.call('DELETE', path),
    await bed.call('POST', `${path}/check`, {}, { id: 'now' }),
  ];
  for (const { status, body } of answers) {
    expect(status).toBe(400);
    expect(JSON.stringify(body)).toMatch(
      /u00[0-9a-f]{2}.*has a control character|\\n.*has a control/,
    );
  }
  const entry = { ...node, nodeName: name };
  expect((await bed.post([entry])).answer.errors).toMatchObject([{ field: 'nodeName' }]);
  const dryRun = await bed.call('POST', '/dry-run', {}, [entry]);
  expect(JSON.stringify(dryRun.body)).toContain('has a control character');
  expect(bed.writes).toEqual([]);
});

describe('GET node-configs', () => {
  it('a list is paged and cached briefly; fresh=true bypasses the cache', async () => {
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

  it('an unchanged page answers 304 with its ETag and the next continue token', async () => {
    await bed.post([node, { nodeName: 'n2' }, { nodeName: 'n3' }]);
    const first = await bed.get('?limit=2');
    const tag = String(first.headers['etag']);
    const again = async (query: string, ifNoneMatch: string) => {
      const { status, headers } = await bed.get(`?limit=2${query}`, {
        'if-none-match': ifNoneMatch,
      });
      return [status, headers['etag'], String(headers['x-continue']) !== ''];
    };
    // A read after an unrelated write has a different continue token.
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

  it('a list shows a node posted just before', async () => {
    await bed.get('');
    await bed.post([node]);
    expect((await bed.list('')).items).toHaveLength(1);
  });

  it('an expired continue token answers ContinueExpired', async () => {
    await bed.post([node, { nodeName: 'n2' }]);
    const first = await bed.list('?limit=1&fresh=true');
    await bed.post([{ nodeName: 'n3' }]);
    bed.api.faults.compact();
    const late = await bed.get(`?limit=1&continue=${first.continue}`);
    expect(late).toMatchObject({ status: 400, body: { code: 'ContinueExpired' } });
  });

  it('GET by node name returns source and status', async () => {
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

describe('filtered GET node-configs', () => {
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
    ['a missing server', '?instanceId=server-9', []],
  ])('the list filter returns nodes matching %s', async (_what, query, names) => {
    await bed.post([{ ...node, base: null, source }, another, { nodeName: 'n3', interfaces: [] }]);
    const { items } = await bed.list(query);
    expect(items.map(({ nodeName }) => nodeName)).toEqual(names);
  });

  it('an invalid source and an invalid continue token answer 400', async () => {
    expect((await bed.get('?source=demo')).status).toBe(400);
    expect(await bed.get('?continue=nonsense')).toMatchObject({
      status: 400,
      body: { code: 'InvalidRequest' },
    });
  });

  it('different filters share one cached page without a second read', async () => {
    await bed.post([another]);
    await bed.list('?instanceId=server-2');
    const before = bed.api.audit.length;
    expect((await bed.list('?instanceId=server-9')).items).toEqual([]);
    expect(bed.api.audit.length).toBe(before);
  });
});

/** Replaces parts of a stored object, as an earlier, looser schema admitted. */
function storedAs(name: string, change: object): void {
  const stored = bed.api
    .objects('multinicnodeconfigs.multinic.io', namespace)
    .find(({ metadata }) => metadata.name === name);
  Object.assign(stored ?? {}, change);
}

describe('unreadable object', () => {
  it.each([
    ['a NIC', { spec: { nodeName: 'n2', interfaces: [{ macAddress: 'fa-16', mtu: 'x' }] } }],
    ['its node name', { spec: { nodeName: 7, interfaces: [] } }],
    ['its server id', { spec: { nodeName: 'n2', instanceId: 7 } }],
    ['its spec', { spec: undefined }],
  ])(
    'an unreadable object hides no other object and does not count as absent: %s',
    async (_what, change) => {
      await bed.post([node, { nodeName: 'n2', interfaces: [] }]);
      storedAs('n2', change);
      const { items, unreadable } = await bed.list('?fresh=true');
      expect(items.map(({ nodeName }) => nodeName)).toEqual(['Worker_1']);
      expect(unreadable).toMatchObject([{ objectName: 'n2' }]);
      expect(await bed.get('/n2')).toMatchObject({ status: 503, body: { code: 'Unreadable' } });
      const { answer } = await bed.post([{ nodeName: 'n2', instanceId: 'server-2', base: null }]);
      expect(answer.errors[0]?.message).toContain('MultiNicNodeConfig n2 cannot be read');
    },
  );
});

describe('object without node name', () => {
  const unnamed = { spec: { nodeName: '', providerId: 'biz-1', interfaces: [] } };

  beforeEach(async () => {
    await bed.post([node, { nodeName: 'n2', interfaces: [] }]);
    storedAs('n2', unnamed);
  });

  it('an object without node name is listed under its own name', async () => {
    const { items } = await bed.list('?fresh=true');
    expect(items.map(({ nodeName }) => nodeName)).toEqual(['n2', 'Worker_1']);
    expect(await bed.get('/n2')).toMatchObject({ status: 200, body: { nodeName: 'n2' } });
  });

  it('an object without node name gets its name at the next write and can be deleted', async () => {
    expect((await bed.post([{ nodeName: 'n2', interfaces: [] }])).status).toBe(200);
    expect((await bed.stored('n2')).spec.nodeName).toBe('n2');
    storedAs('n2', unnamed);
    expect((await bed.call('DELETE', '/n2')).status).toBe(202);
  });
});

it.each([undefined, ''])(
  'an object with provider %j is visible to every provider',
  async (providerId) => {
    await bed.post([node]);
    storedAs('worker-1', { spec: { nodeName: 'Worker_1', providerId } });
    expect((await bed.list('?fresh=true')).items).toHaveLength(1);
  },
);

describe('node names that map to one object', () => {
  it('node names that map to one object are distinguished in GET and DELETE', async () => {
    await bed.post([node]);
    expect((await bed.get('/worker-1')).status).toBe(404);
    expect(await bed.call('DELETE', '/worker-1')).toMatchObject({
      status: 404,
      body: { code: 'NoSuchNode' },
    });
    expect((await bed.get('/Worker_1')).status).toBe(200);
  });
});

describe('renamed node', () => {
  it('a renamed node is recognised by server id, ignoring case', async () => {
    const instanceId = 'AC51B2FD-E595-4395-8FB1-F21D069523C0';
    await bed.post([node]);
    const { answer } = await bed.post([{ ...node, nodeName: 'worker-1', instanceId }]);
    expect(answer.results).toMatchObject([{ nodeName: 'worker-1', status: 'updated' }]);
  });
});

describe('two providers with the same cluster and namespace', () => {
  const second = { provider: 'biz-2', token: 'other' };

  it('two providers with the same cluster and namespace are both registered', async () => {
    await bed.register('biz-2', await bed.api.kubeconfig());
    await expect.poll(() => bed.providers).toContain('biz-2');
  });

  it("a provider cannot read, change or delete another provider's nodes", async () => {
    await bed.post([node]);
    expect((await bed.get('?fresh=true', second)).body).toMatchObject({ items: [] });
    expect((await bed.get('/Worker_1', second)).status).toBe(404);
    expect((await bed.call('DELETE', '/Worker_1', second)).status).toBe(404);
    const { status, answer } = await bed.post([{ ...node, interfaces: [] }], second);
    expect([status, answer.errors[0]?.field]).toEqual([422, 'providerId']);
    expect(answer.errors[0]?.message).toContain(
      'belongs to provider "biz-1", not "biz-2": if this cluster is registered under both ids, set spec.credentials.k8sProviderID to "biz-1"',
    );
    expect(answer.errors[0]?.message).not.toContain(annotations.takeOver);
    expect((await bed.stored()).spec.interfaces).toHaveLength(1);
  });

  it('a provider may take over an object without provider or with the take-over annotation', async () => {
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

describe('failing list', () => {
  it('a failed list is not cached', async () => {
    const resource = 'multinicnodeconfigs.multinic.io';
    bed.api.faults.answer({ verb: 'list', resource, status: 500 });
    expect((await bed.get('?limit=7')).status).toBe(503);
    expect((await bed.get('?limit=7')).status).toBe(200);
  });
});

describe('registered clusters', () => {
  it("the cluster list shows each cluster's reachability and follows Secret changes without a restart", async () => {
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

  it('the cluster list has the published networks, and none while they are unreadable', async () => {
    const object = { namespace: 'multinic-system', name: 'multinic-cluster-networks' };
    const networksOf = async () => {
      const { items } = clusters.parse((await bed.get('/v1/k8s/clusters')).body);
      return items.find(({ providerId }) => providerId === 'biz-1')?.networks;
    };
    expect(await networksOf()).toBeUndefined();
    const networks = [
      { cidr: '10.96.0.0/12', use: 'Services', source: 'kubeadm-config' },
      { cidr: 'fd00:96::/108', use: 'Services', source: 'kubeadm-config' },
    ];
    const publish = (text: string) =>
      bed.admin.patch(configMaps, object, { data: { 'networks.json': text } });
    await bed.admin.create(configMaps, { metadata: object, data: { 'networks.json': 'x' } });
    expect(await networksOf()).toBeUndefined();
    await publish(JSON.stringify(networks));
    expect(await networksOf()).toEqual(networks);
    bed.api.faults.answer({ verb: 'get', resource: 'configmaps', status: 403 });
    expect(await networksOf()).toBeUndefined();
    await publish(JSON.stringify([{ cidr: 'x', use: 'Services', source: '' }]));
    expect(await networksOf()).toBeUndefined();
  });

  it('a cluster registered by two Secrets answers 503', async () => {
    await bed.register('biz-twice', await bed.api.kubeconfig(), 'one');
    await bed.register('biz-twice', await bed.api.kubeconfig(), 'two');
    await expect
      .poll(async () => (await bed.post([node], { provider: 'biz-twice' })).status, {
        timeout: 10_000,
      })
      .toBe(503);
  });
});
