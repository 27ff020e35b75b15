import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type ApiServer, startApiServer } from '../../rig/apiserver/server.ts';
import { crdDefinitions } from '../api/crd/definition.ts';
import { annotations, labels } from '../api/names.ts';
import { type HeldNodes, nodeConfigsPath, type PostAnswer } from '../api/node-configs-http.ts';
import { createHttpServer, type HttpServer } from '../http/server.ts';
import { openTokenFile } from '../http/token-file.ts';
import { createKubeClient, type KubeClient } from '../kube/client.ts';
import { namespaces, type Secret, secrets } from '../kube/core-resources.ts';
import { createReflector } from '../kube/reflector.ts';
import { Store } from '../kube/store.ts';
import { systemClock, systemRandom } from '../process/clock.ts';
import { createPerform } from '../process/effects.ts';
import { createHealth } from '../process/health.ts';
import { createLogger } from '../process/log.ts';
import { AnswerCache } from './answer-cache.ts';
import { Clusters } from './clusters.ts';
import { nodeConfigs } from './node-config.ts';
import { serveViola } from './routes.ts';

const log = createLogger({ part: 'test', level: 'silent' });
const stop = new AbortController();
const writes: string[] = [];
let cluster: ApiServer;
let admin: KubeClient;
let app: HttpServer;
let clusters: Clusters;
let directory: string;

const sha256 = (token: string) => createHash('sha256').update(token).digest('hex');
const node = {
  nodeName: 'Worker_1',
  instanceId: 'ac51b2fd-e595-4395-8fb1-f21d069523c0',
  interfaces: [
    {
      portId: 'p0',
      name: 'multinic0',
      macAddress: 'FA:16:3E:00:00:01',
      address: '10.0.0.10',
      cidr: '10.0.0.0/24',
      mtu: 1450,
      deviceId: 'ac51b2fd-e595-4395-8fb1-f21d069523c0',
    },
  ],
};

beforeAll(async () => {
  cluster = await startApiServer({ crds: Object.values(crdDefinitions()) });
  admin = createKubeClient(cluster.access, { clock: systemClock, random: systemRandom });
  await admin.create(namespaces, { metadata: { name: 'multinic-system' } });
  await register('biz-1', await cluster.kubeconfig());
  directory = await mkdtemp(join(tmpdir(), 'viola-'));
  const grants = [
    {
      name: 'operator',
      sha256: sha256('rw'),
      providers: ['*'],
      verbs: ['read', 'write', 'delete'],
    },
    { name: 'viewer', sha256: sha256('ro'), providers: ['*'], verbs: ['read'] },
    { name: 'foreign', sha256: sha256('other'), providers: ['biz-2'], verbs: ['read', 'write'] },
  ];
  await writeFile(join(directory, 'tokens.yaml'), JSON.stringify(grants));
  await start();
});

afterEach(async () => {
  writes.length = 0;
  for (const { metadata } of (await admin.listAll(nodeConfigs)).items) {
    const ref = { namespace: 'multinic-system', name: metadata.name };
    await admin.patch(nodeConfigs, ref, { metadata: { finalizers: null } });
    await admin.delete(nodeConfigs, ref).catch(() => undefined);
  }
});

afterAll(async () => {
  stop.abort(new Error('done'));
  await app.close();
  await clusters[Symbol.asyncDispose]();
  await admin[Symbol.asyncDispose]();
  await cluster.close();
  await rm(directory, { recursive: true });
});

async function register(providerId: string, kubeconfig: string, name = providerId): Promise<void> {
  await admin.create(secrets, {
    metadata: { name, namespace: 'multinic-system', labels: { [labels.providerId]: providerId } },
    data: { kubeconfig: Buffer.from(kubeconfig).toString('base64') },
  });
}

async function start(): Promise<void> {
  const store = new Store<Secret>();
  const reflector = createReflector({
    client: admin,
    resource: secrets,
    namespace: 'multinic-system',
    labelSelector: labels.providerId,
    store,
    clock: systemClock,
    random: systemRandom,
  });
  void reflector.run(stop.signal);
  await reflector.synced;
  clusters = new Clusters({
    secrets: store,
    log,
    connect: ({ access }) =>
      createKubeClient(access, { clock: systemClock, random: systemRandom, timeoutMs: 2000 }),
  });
  app = await createHttpServer({
    title: 'Viola',
    log,
    health: createHealth(),
    registry: new Registry(),
  });
  serveViola(app, {
    clusters,
    tokens: await openTokenFile(join(directory, 'tokens.yaml'), log),
    cache: new AnswerCache(systemClock, 60_000),
    clock: systemClock,
    perform: createPerform((effect, phase) => {
      if (phase === 'before') writes.push(effect);
    }),
    acceptUnfenced: false,
    parallel: 4,
    signal: stop.signal,
  });
}

interface CallOptions {
  readonly token?: string;
  readonly provider?: string;
  readonly prefer?: string;
}

async function call(
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  body?: unknown,
  o: CallOptions = {},
) {
  const { token = 'rw', provider = 'biz-1', prefer } = o;
  const answer = await app.inject({
    method,
    url: `${nodeConfigsPath}${path}`,
    headers: {
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      ...(provider ? { 'x-provider-id': provider } : {}),
      ...(prefer ? { prefer } : {}),
    },
    ...(body === undefined ? {} : { payload: body as object }),
  });
  return { status: answer.statusCode, body: answer.json<never>() as unknown };
}

async function post(body: unknown, options?: CallOptions) {
  const { status, body: answer } = await call('POST', '', body, options);
  return { status, answer: answer as PostAnswer };
}

function stored(name = 'worker-1') {
  return admin.get(nodeConfigs, { namespace: 'multinic-system', name });
}

describe('POST node-configs', () => {
  it('takes the body of the deployed operator: no id for multinic0, fields that we do not keep', async () => {
    const { status, answer } = await post([node]);
    expect(status).toBe(200);
    expect(answer).toMatchObject({
      applied: 1,
      results: [{ nodeName: 'Worker_1', status: 'created' }],
    });
    const object = await stored();
    expect(object.spec.interfaces).toEqual([
      {
        id: 0,
        name: 'multinic0',
        portId: 'p0',
        macAddress: 'fa:16:3e:00:00:01',
        address: '10.0.0.10',
        cidr: '10.0.0.0/24',
        mtu: 1450,
      },
    ]);
    expect(object.metadata.labels).toMatchObject({
      [labels.nodeName]: 'worker_1',
      [labels.instanceId]: node.instanceId,
      [labels.providerId]: 'biz-1',
    });
  });

  it('writes nothing when the same is posted again', async () => {
    await post([node]);
    writes.length = 0;
    const { answer } = await post([node]);
    expect(answer.results).toMatchObject([{ status: 'unchanged', generation: 1 }]);
    expect(writes).toEqual([]);
  });

  it('keeps the other nodes when one cannot be used, and says which field of which', async () => {
    const outside = { ...node.interfaces[0], address: '10.9.9.9' };
    const bad = { nodeName: 'bad', interfaces: [outside] };
    const { status, answer } = await post([bad, node, { nodeName: ' ' }, 7], {
      prefer: 'multinic-results',
    });
    expect(status).toBe(200);
    expect(answer.results).toMatchObject([{ nodeName: 'Worker_1', status: 'created' }]);
    expect(answer.errors).toMatchObject([
      { nodeName: 'bad', code: 'Invalid', field: 'interfaces[0].address' },
      { code: 'Invalid', field: 'nodeName' },
      { code: 'Invalid', field: '' },
    ]);
    expect((await post([bad, node])).status).toBe(422);
  });

  it('refuses two entries for one object, and more than ten NICs', async () => {
    const eleven = Array.from({ length: 11 }, () => node.interfaces[0]);
    const { answer } = await post([
      node,
      { ...node, nodeName: 'worker-1' },
      { nodeName: 'full', interfaces: eleven },
    ]);
    expect(answer.errors.map(({ field }) => field)).toEqual(['nodeName', 'nodeName', 'interfaces']);
    expect(answer.applied).toBe(0);
  });

  it('refuses a node whose base has moved, and one that shall be new but exists', async () => {
    const created = (await post([{ ...node, base: null }])).answer.results[0];
    const changed = { ...node, interfaces: [] };
    const base = { uid: created?.uid ?? '', generation: 1 };
    expect((await post([{ ...changed, base }])).answer.results).toMatchObject([
      { status: 'updated', generation: 2 },
    ]);
    const stale = await post([{ ...node, base }]);
    expect(stale.status).toBe(409);
    expect(stale.answer.errors).toMatchObject([{ code: 'StaleBase', field: 'base' }]);
    expect((await post([{ ...node, base: null }])).answer.errors).toMatchObject([
      { code: 'StaleBase' },
    ]);
    expect((await stored()).spec.interfaces).toEqual([]);
  });

  it('keeps a fenced object from callers that send no base', async () => {
    await post([{ ...node, base: null }]);
    const { status, answer } = await post([{ ...node, interfaces: [] }]);
    expect([status, answer.errors[0]?.code]).toEqual([409, 'Fenced']);
  });

  it('takes over what the deployed Viola wrote with kubectl, but not what a person did', async () => {
    const object = {
      apiVersion: 'multinic.io/v1',
      kind: 'MultiNicNodeConfig',
      metadata: { name: 'worker-1', namespace: 'multinic-system' },
      spec: { nodeName: 'Worker_1', interfaces: [] },
    };
    await admin.create(nodeConfigs, object, { fieldManager: 'kubectl-client-side-apply' });
    expect((await post([node])).answer.results).toMatchObject([{ status: 'updated' }]);
    await admin.apply(nodeConfigs, object, { fieldManager: 'kim', force: true });
    const { status, answer } = await post([node]);
    expect([status, answer.errors[0]?.code]).toEqual([409, 'FieldConflict']);
    expect(answer.errors[0]?.message).toContain('kim');
  });

  it('decides anew when the controller writes status in between', async () => {
    await post([node]);
    cluster.faults.answer({
      verb: 'patch',
      resource: 'multinicnodeconfigs.multinic.io',
      status: 409,
      reason: 'Conflict',
    });
    expect((await post([{ ...node, interfaces: [] }])).answer.results).toMatchObject([
      { status: 'updated' },
    ]);
  });

  it('asks a cluster that does not answer once, and says 503', async () => {
    await register(
      'biz-down',
      (await cluster.kubeconfig()).replace(/127\.0\.0\.1:\d+/, '127.0.0.1:1'),
    );
    await expect.poll(() => clusters.providerIds).toContain('biz-down');
    const nodes = Array.from({ length: 20 }, (_, i) => ({ ...node, nodeName: `n-${i}` }));
    const { status, answer } = await post(nodes, { provider: 'biz-down' });
    expect(status).toBe(503);
    expect(new Set(answer.errors.map(({ code }) => code))).toEqual(new Set(['ClusterUnreachable']));
  });

  it('refuses a body that is no list of nodes', async () => {
    expect((await call('POST', '', { nodeName: 'n' })).status).toBe(400);
    expect((await call('POST', '', [])).status).toBe(400);
  });
});

describe('who may', () => {
  it.each([
    ['nobody without a token', '', 'biz-1', 401],
    ['nobody with an unknown token', 'guess', 'biz-1', 401],
    ['not a token of another cluster', 'other', 'biz-1', 403],
    ['not a read-only token', 'ro', 'biz-1', 403],
    ['not towards a cluster that is not registered', 'rw', 'biz-9', 404],
    ['not without naming the cluster', 'rw', '', 400],
  ])('may post: %s', async (_who, token, provider, status) => {
    expect((await call('POST', '', [node], { token, provider })).status).toBe(status);
    expect(writes).toEqual([]);
  });

  it('may read with a read-only token', async () => {
    expect((await call('GET', '', undefined, { token: 'ro' })).status).toBe(200);
  });
});

describe('GET node-configs', () => {
  it('pages, and reads through when asked to', async () => {
    await post([node, { nodeName: 'n2' }, { nodeName: 'n3' }]);
    const first = (await call('GET', '?limit=2')).body as HeldNodes;
    expect(first.items.map(({ nodeName }) => nodeName)).toEqual(['n2', 'n3']);
    const rest = (await call('GET', `?limit=2&continue=${first.continue}`)).body as HeldNodes;
    expect(rest.items.map(({ nodeName }) => nodeName)).toEqual(['Worker_1']);
    await admin.delete(nodeConfigs, { namespace: 'multinic-system', name: 'n3' });
    expect(((await call('GET', '?limit=2')).body as HeldNodes).observedAt).toBe(first.observedAt);
    const fresh = (await call('GET', '?limit=2&fresh=true')).body as HeldNodes;
    expect(fresh.items.map(({ nodeName }) => nodeName)).toEqual(['n2', 'Worker_1']);
  });

  it('shows one node with its provenance, by the name it was posted with', async () => {
    const source = { namespace: 'multinic-system', name: 'demo', uid: 'u', generation: 3 };
    await post([{ ...node, base: null, source }]);
    expect((await call('GET', '/Worker_1')).body).toMatchObject({ nodeName: 'Worker_1', source });
    expect((await call('GET', '/nobody')).status).toBe(404);
  });
});

describe('DELETE node-configs', () => {
  it('stamps the consent before it deletes, and leaves the rest to the finalizer', async () => {
    await post([node]);
    const ref = { namespace: 'multinic-system', name: 'worker-1' };
    await admin.patch(nodeConfigs, ref, { metadata: { finalizers: ['multinic.io/cleanup'] } });
    const { status, body } = await call('DELETE', '/Worker_1');
    const object = await stored();
    expect(status).toBe(202);
    expect(body).toEqual({ uid: object.metadata.uid, generation: 1 });
    expect(object.metadata.deletionTimestamp).toBeDefined();
    expect(object.metadata.annotations).toHaveProperty([annotations.deleteConsent]);
    expect((await call('DELETE', '/Worker_1')).status).toBe(202);
    expect((await post([node])).answer.errors).toMatchObject([{ code: 'Deleting' }]);
  });

  it('refuses a base that has moved and answers 404 when it is done', async () => {
    await post([{ ...node, base: null }]);
    expect((await call('DELETE', '/Worker_1?uid=other&generation=1')).status).toBe(409);
    const { uid } = (await stored()).metadata;
    expect((await call('DELETE', `/Worker_1?uid=${uid}&generation=1`)).status).toBe(202);
    expect((await call('DELETE', '/Worker_1')).status).toBe(404);
  });
});

describe('registered clusters', () => {
  it('says of each whether it answers, and follows its Secret without a restart', async () => {
    await register('biz-bad', 'not: [a kubeconfig');
    await expect.poll(() => clusters.providerIds).toContain('biz-bad');
    const answer = await app.inject({
      url: '/v1/k8s/clusters',
      headers: { authorization: 'Bearer rw' },
    });
    const { items } = answer.json<{
      items: { providerId: string; reachable: boolean; message: string }[];
    }>();
    expect(items.find(({ providerId }) => providerId === 'biz-1')?.reachable).toBe(true);
    const bad = items.find(({ providerId }) => providerId === 'biz-bad');
    expect(bad?.reachable).toBe(false);
    expect(bad?.message).toContain('multinic-system/biz-bad');
    const ref = { namespace: 'multinic-system', name: 'biz-bad' };
    const data = { kubeconfig: Buffer.from(await cluster.kubeconfig()).toString('base64') };
    await admin.patch(secrets, ref, { data });
    await expect
      .poll(async () => (await post([node], { provider: 'biz-bad' })).status, { timeout: 10_000 })
      .toBe(200);
  });

  it('refuses a cluster that two Secrets claim', async () => {
    await register('biz-twice', await cluster.kubeconfig(), 'one');
    await register('biz-twice', await cluster.kubeconfig(), 'two');
    await expect
      .poll(async () => (await post([node], { provider: 'biz-twice' })).status, { timeout: 10_000 })
      .toBe(503);
  });
});
