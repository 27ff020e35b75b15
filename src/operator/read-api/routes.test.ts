import { createHash } from 'node:crypto';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { about } from '../../../test/fixtures/about.ts';
import type { NodeConfigStatus } from '../../api/multinicnodeconfig.ts';
import type { ClusterView, NodeView, PortView } from '../../api/read-http.ts';
import type { HttpServer } from '../../http/app.ts';
import { createHttpServer } from '../../http/server.ts';
import { createHealth } from '../../process/health.ts';
import { createLogger } from '../../process/log.ts';
import { systemClock } from '../../time/clock.ts';
import { FakeCloud } from '../testing/fake-cloud.ts';
import { FakeViola } from '../testing/fake-viola.ts';
import { attach, type Scene, serverIds, setScene, spec } from '../testing/scene.ts';
import { serveReads } from './routes.ts';

let scene: Scene;
let app: HttpServer;
let unavailable: string | undefined;

const sha256 = (token: string) => createHash('sha256').update(token).digest('hex');
const token = (name: string, providers: string[], verb: 'read' | 'write' = 'read') => ({
  name,
  sha256: sha256(name),
  providers,
  verbs: [verb],
});
const grants = [token('one', ['biz-1']), token('two', ['biz-2']), token('w', ['*'], 'write')];

beforeEach(async () => {
  scene = await setScene();
  unavailable = undefined;
  app = await createHttpServer({
    title: 'Inventory',
    clock: systemClock,
    log: createLogger({ part: 'test', level: 'silent' }),
    health: createHealth(),
    about,
    registry: new Registry(),
  });
  serveReads(app, {
    deps: scene.readDeps(),
    tokens: { current: async () => grants },
    unavailable: () => unavailable,
  });
});

afterEach(async () => {
  await app.close();
  await scene[Symbol.asyncDispose]();
});

interface Answer<T> {
  readonly status: number;
  readonly items: readonly T[];
  readonly body: Record<string, unknown>;
}

async function get<T = Record<string, unknown>>(path: string, as?: string): Promise<Answer<T>> {
  const answer = await app.inject({
    url: `/v1/${path}`,
    remoteAddress: as === undefined ? '127.0.0.1' : '10.0.0.9',
    headers: as === undefined ? {} : { authorization: `Bearer ${as}` },
  });
  const body = answer.json<Record<string, unknown>>();
  return { status: answer.statusCode, items: (body['items'] ?? []) as T[], body };
}

/** Delivers p1 on worker-1 and p2 on worker-2. */
async function deliver(): Promise<void> {
  attach(scene.cloud, 1, 1);
  attach(scene.cloud, 2, 2);
  scene.create();
  await scene.look();
}

/** Reports a node's status, like a controller. */
function report(nodeName: string, status: NodeConfigStatus): void {
  const node = scene.viola.nodes.get(nodeName);
  if (!node) throw new Error(`no node ${nodeName}`);
  const { generation } = node;
  scene.viola.put({ ...node, status: { observedGeneration: generation, ...status } });
}

const configured = (portId: string, macAddress: string): NodeConfigStatus => ({
  state: 'Configured',
  conditions: [
    {
      type: 'Ready',
      status: 'True',
      reason: 'Configured',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    },
  ],
  interfaceStatuses: [
    { name: 'multinic0', portId, macAddress, status: 'Configured', reason: 'Configured' },
  ],
  applied: { checkedAt: '2026-01-01T00:00:30Z', family: 'netplan' },
});

/** Adds an OpenstackConfig in a second project and business cluster, with port `p9` on the third server. */
async function addTenant(change: Partial<FakeCloud['ports'][number]> = {}): Promise<FakeCloud> {
  const cloud = new FakeCloud('project-2');
  Object.assign(cloud, { name: 'https://other.test' });
  const { vms, subnets, networks } = scene.cloud;
  Object.assign(cloud, {
    vms: vms.map((vm) => ({ ...vm, projectId: 'project-2' })),
    subnets,
    networks,
  });
  attach(cloud, 9, 3);
  cloud.ports = cloud.ports.map((port) => ({ ...port, projectId: 'project-2', ...change }));
  scene.clouds.projects.set('project-2', cloud);
  scene.otherViolas.set('biz-2', new FakeViola());
  const credentials = { ...spec.credentials, projectID: 'project-2', k8sProviderID: 'biz-2' };
  const other = { vmNames: serverIds.slice(2), credentials };
  scene.create(other, { name: 'tenant', uid: 'tenant-uid' });
  await scene.lookAt('multinic-system/tenant');
  await scene.lookAt('multinic-system/tenant');
  return cloud;
}

const nodeNames = ({ items }: Answer<NodeView>) =>
  items.map(({ providerId, nodeName }) => `${providerId}/${nodeName}`);

describe('GET /v1/nodes', () => {
  it('a node created by the last sync has no status yet, and an updated node is Pending', async () => {
    await deliver();
    const states = async () =>
      (await get<NodeView>('nodes')).items.map((node) => [node.state, node.message]);
    const created = [
      'Unknown',
      'the MultiNicNodeConfig was created by this sync and has no status yet',
    ];
    expect(await states()).toEqual([created, created]);
    for (const n of [1, 2]) report(`worker-${n}`, configured(`p${n}`, `fa:16:3e:00:00:0${n}`));
    attach(scene.cloud, 3, 1);
    await scene.look();
    expect(await states()).toEqual([
      ['Pending', 'the controller has not processed generation 2 yet'],
      ['Configured', ''],
    ]);
    const [node] = (await get<NodeView>('nodes')).items;
    expect(node?.nics.map(({ state }) => state)).toEqual(['Configured', 'Pending']);
  });

  it('a node shows NICs, the status from the business cluster and unused ports', async () => {
    attach(scene.cloud, 3, 1);
    const [port] = scene.cloud.ports;
    if (port) scene.cloud.ports = [{ ...port, createdAt: '2025-01-01T00:00:00Z' }];
    await deliver();
    report('worker-1', configured('p1', 'fa:16:3e:00:00:01'));
    await scene.look();
    const { items } = await get<NodeView>('nodes');
    expect(items[0]).toMatchObject({
      providerId: 'biz-1',
      nodeName: 'worker-1',
      instanceId: serverIds[0],
      config: 'multinic-system/osc',
      state: 'Configured',
      ready: 'True',
      reason: '',
      since: '2026-01-01T00:00:00Z',
      drifted: false,
      checkedAt: '2026-01-01T00:00:30Z',
      backend: 'netplan',
      nics: [
        {
          name: 'multinic0',
          portId: 'p1',
          macAddress: 'fa:16:3e:00:00:01',
          addresses: ['10.0.10.1/24'],
          mtu: 1450,
          subnetName: 'subnet-a',
          portStatus: 'ACTIVE',
          state: 'Configured',
          reason: '',
        },
      ],
      unusedPorts: [{ portId: 'p3', reason: 'PortTooOld', address: '10.0.10.3' }],
    });
    expect(items[1]).toMatchObject({
      nodeName: 'worker-2',
      state: 'Unknown',
      nics: [{ state: 'Unknown' }],
    });
  });

  it.each([
    { query: '', names: ['biz-1/worker-1', 'biz-1/worker-2', 'biz-2/worker-3'] },
    { query: '?providerId=biz-2', names: ['biz-2/worker-3'] },
    { query: '?state=Configured', names: ['biz-1/worker-1'] },
    { query: '?reason=NICInUse', names: ['biz-1/worker-2'] },
    { query: '?config=multinic-system/tenant', names: ['biz-2/worker-3'] },
    { query: '', as: 'one', names: ['biz-1/worker-1', 'biz-1/worker-2'] },
    { query: '?providerId=biz-1', as: 'two', names: [] },
  ])('the list $query for caller $as has $names', async ({ query, as, names }) => {
    await deliver();
    report('worker-1', configured('p1', 'fa:16:3e:00:00:01'));
    const ready = { type: 'Ready', status: 'False', reason: 'NICInUse' } as const;
    report('worker-2', { state: 'Failed', conditions: [ready] });
    await scene.look();
    await addTenant();
    expect(nodeNames(await get(`nodes${query}`, as))).toEqual(names);
  });

  it('pages follow the continue token', async () => {
    await deliver();
    await addTenant();
    const first = await get<NodeView>('nodes?limit=2');
    const next = String(first.body['continue']);
    const second = await get<NodeView>(`nodes?limit=2&continue=${next}`);
    expect([nodeNames(first), nodeNames(second)]).toEqual([
      ['biz-1/worker-1', 'biz-1/worker-2'],
      ['biz-2/worker-3'],
    ]);
    expect(second.body).not.toHaveProperty('continue');
  });

  it.each([
    { path: 'nodes?nodeName=worker-1', status: 400 },
    { path: 'nodes?continue=x', status: 400 },
    { path: 'nodes/biz-1/worker-9', status: 404, code: 'NoSuchNode' },
    { path: 'nodes/biz-1/worker-1', as: 'two', status: 404, code: 'NoSuchNode' },
    { path: 'nodes', as: 'w', status: 403, code: 'VerbDenied' },
    { path: 'nodes', as: 'nobody', status: 401, code: 'TokenUnknown' },
    { path: 'ports', status: 400 },
    { path: 'ports?portId=p1&mac=fa:16:3e:00:00:01', status: 400 },
    { path: 'ports?mac=worker-1', status: 400 },
    { path: 'ports?address=10.0.10.1/24', status: 400 },
    { path: 'ports?portId=p99', status: 404, code: 'NoSuchPort' },
  ])('$path for caller $as is $status', async ({ path, as, status, code = 'InvalidRequest' }) => {
    await deliver();
    const answer = await get(path, as);
    expect([answer.status, answer.body['code']]).toEqual([status, code]);
  });

  it.each(['clusters', 'nodes', 'nodes/biz-1/worker-1', 'ports?portId=p1'])(
    '%s is 503 on a replica without leadership',
    async (path) => {
      await deliver();
      unavailable = 'another replica of the operator leads';
      const { status, body } = await get(path);
      expect([status, body['code']]).toEqual([503, 'NotLeading']);
    },
  );

  it('a new leadership term and a deleted OpenstackConfig leave no node', async () => {
    await deliver();
    scene.leadAgain();
    expect(nodeNames(await get('nodes'))).toEqual([]);
    await scene.look();
    expect(nodeNames(await get('nodes'))).toHaveLength(2);
    scene.kube.configs.replace([]);
    await scene.reconcile(0);
    expect(nodeNames(await get('nodes'))).toEqual([]);
  });
});

describe.each([
  {
    name: 'OpenStack is down after a restart',
    act: () => scene.cloud.fail('portsOf', 'timeout'),
    sync: async () => scene.look(),
  },
  {
    name: 'the trigger mode starts no sync after a restart',
    act: () => scene.trigger('mode: manual'),
    sync: async () => undefined,
  },
])('$name', ({ act, sync }) => {
  it('nodes, NICs and ports come from the objects', async () => {
    await deliver();
    report('worker-1', configured('p1', 'fa:16:3e:00:00:01'));
    await scene.look();
    scene.leadAgain();
    act();
    await sync();
    const { items } = await get<NodeView>('nodes');
    expect(items).toMatchObject([
      { nodeName: 'worker-1', state: 'Configured', nics: [{ portId: 'p1', state: 'Configured' }] },
      { nodeName: 'worker-2', instanceId: serverIds[1], unusedPorts: [] },
    ]);
    const ports = await get<PortView>('ports?portId=p1');
    expect(ports.items).toMatchObject([
      {
        verdict: { nic: 'multinic0' },
        node: { nodeName: 'worker-1' },
        configs: [{ selectsServer: true }],
      },
    ]);
    const lists = scene.viola.lists.length;
    await get('nodes');
    expect(scene.viola.lists.length).toBe(lists);
  });
});

describe('GET /v1/nodes/{providerId}/{nodeName}', () => {
  it('a fresh read shows the object and drops an outdated status', async () => {
    await deliver();
    report('worker-1', configured('p1', 'fa:16:3e:00:00:01'));
    await scene.look();
    const conditions = [
      { type: 'Ready', status: 'False', reason: 'NICInUse', message: 'x' } as const,
    ];
    report('worker-1', {
      state: 'Failed',
      conditions,
      lastJobName: 'job-1',
      applied: { attempt: 4 },
    });
    const { body: stored } = await get('nodes/biz-1/worker-1');
    expect(stored).toMatchObject({ state: 'Configured' });
    expect(stored).not.toHaveProperty('object');
    const { body } = await get('nodes/biz-1/worker-1?fresh=true');
    expect(body).toMatchObject({
      state: 'Failed',
      reason: 'NICInUse',
      nics: [{ name: 'multinic0', state: 'Unknown' }],
      object: {
        generation: 1,
        observedGeneration: 1,
        conditions,
        lastJobName: 'job-1',
        attempt: 4,
        deleting: false,
      },
    });
    expect(body).not.toHaveProperty('checkedAt');
  });

  it('a fresh read is 503 with the next step when Viola cannot read the cluster', async () => {
    await deliver();
    scene.viola.fail(503, 'cluster unreachable');
    const { status, body } = await get('nodes/biz-1/worker-1?fresh=true');
    expect([status, body['code']]).toEqual([503, 'NodeUnread']);
    expect(body['detail']).toContain('without fresh=true');
  });
});

describe('GET /v1/clusters', () => {
  const cluster = (providerId: string, reachable = true) => ({
    providerId,
    server: 'https://k8s.test',
    reachable,
    checkedAt: '2026-01-01T00:00:00Z',
    message: reachable ? '' : 'connection refused',
  });

  it('business clusters show connection and node sums', async () => {
    await deliver();
    report('worker-1', configured('p1', 'fa:16:3e:00:00:01'));
    await scene.look();
    const rights = { missing: ['create jobs'], checkedAt: '2026-01-01T00:00:00Z' };
    scene.viola.clusters = [{ ...cluster('biz-1'), rights }, cluster('biz-3', false)];
    const { items } = await get<ClusterView>('clusters');
    expect(items).toEqual([
      {
        providerId: 'biz-1',
        reachable: true,
        message: '',
        checkedAt: '2026-01-01T00:00:00Z',
        missingRights: ['create jobs'],
        nodes: 2,
        nics: { Pending: 0, InProgress: 0, Configured: 1, Failed: 0 },
        drifted: 0,
        oldestCheck: '2026-01-01T00:00:30Z',
      },
      expect.objectContaining({ providerId: 'biz-3', reachable: false, nodes: 0 }),
    ]);
    expect((await get<ClusterView>('clusters', 'one')).items).toHaveLength(1);
    expect(scene.viola.clusterReads).toBe(1);
    await scene.clock.advance(11_000);
    await get('clusters');
    expect(scene.viola.clusterReads).toBe(2);
  });

  it('an unreadable Viola leaves the sums and explains the connection', async () => {
    await deliver();
    scene.viola.fail(500);
    const { items } = await get<ClusterView>('clusters');
    expect(items).toMatchObject([{ providerId: 'biz-1', nodes: 2 }]);
    expect(items[0]).not.toHaveProperty('reachable');
    expect(items[0]?.message).toMatch(/viola: unexpected status 500/);
  });

  it('a cluster missing from Viola’s report is absent, because registration is missing', async () => {
    await deliver();
    scene.viola.clusters = [cluster('biz-3')];
    const { items } = await get<ClusterView>('clusters');
    expect(items.map(({ providerId }) => providerId)).toEqual(['biz-3']);
  });
});

describe('GET /v1/ports', () => {
  const idsOf = ({ items }: Answer<PortView>) => items.map(({ portId }) => portId);

  it('a port from the last sync shows NIC, node, delivery and OpenstackConfig', async () => {
    await deliver();
    const { items } = await get<PortView>('ports?address=10.0.10.1');
    expect(items).toMatchObject([
      {
        portId: 'p1',
        source: 'sync',
        status: 'ACTIVE',
        deviceId: serverIds[0],
        serverName: 'worker-1',
        configs: [
          {
            config: 'multinic-system/osc',
            selectsServer: true,
            selectsSubnet: true,
            ready: 'True',
            trigger: 'immediate',
          },
        ],
        verdict: { config: 'multinic-system/osc', nic: 'multinic0' },
        node: { providerId: 'biz-1', nodeName: 'worker-1' },
        delivery: { ok: true },
      },
    ]);
    expect(items[0]).not.toHaveProperty('adminStateUp');
    expect(items[0]?.configs[0]?.nextSyncAt).toBeDefined();
  });

  it('a port by id is read from Neutron, with admin_state_up, and keeps the sync’s decision', async () => {
    await deliver();
    scene.cloud.disabled.add('p1');
    const { items } = await get<PortView>('ports?portId=P1');
    expect(items).toMatchObject([
      { portId: 'p1', source: 'neutron', adminStateUp: false, verdict: { nic: 'multinic0' } },
    ]);
    scene.cloud.fail('portRecord', 'timeout');
    expect((await get<PortView>('ports?portId=p1')).items).toMatchObject([{ source: 'sync' }]);
  });

  it('an unselected port is read from Neutron in the account’s own project only', async () => {
    await deliver();
    attach(scene.cloud, 7, 3);
    attach(scene.cloud, 8, 3);
    scene.cloud.ports = scene.cloud.ports.map((port) =>
      port.id === 'p8' ? { ...port, projectId: 'project-2' } : port,
    );
    const { items } = await get<PortView>(`ports?serverId=${serverIds[2]}`);
    expect(items).toMatchObject([
      {
        portId: 'p7',
        source: 'neutron',
        configs: [{ config: 'multinic-system/osc', selectsServer: false, selectsSubnet: true }],
      },
    ]);
    expect(items[0]).not.toHaveProperty('verdict');
    expect((await get('ports?portId=p8')).status).toBe(404);
    expect(idsOf(await get('ports?mac=FA-16-3E-00-00-07'))).toEqual(['p7']);
  });

  it('accounts outside the caller’s business clusters are never used', async () => {
    await deliver();
    const { clouds } = scene;
    const before = clouds.identities.length;
    expect((await get('ports?portId=p1', 'two')).status).toBe(404);
    expect(clouds.identities.length).toBe(before);
  });

  it.each([
    { query: 'mac=fa:16:3e:00:00:01', name: 'two ports with one MAC' },
    { query: 'address=10.0.10.1', name: 'an address in two clouds' },
  ])(
    '$name are two answers, but a single answer for a caller with a single cluster',
    async ({ query }) => {
      await deliver();
      const fixedIps = [{ subnetId: 'sub-a', ipAddress: '10.0.10.1' }];
      await addTenant({ macAddress: 'fa:16:3e:00:00:01', fixedIps });
      expect(idsOf(await get(`ports?${query}`)).toSorted()).toEqual(['p1', 'p9']);
      expect(idsOf(await get(`ports?${query}`, 'two'))).toEqual(['p9']);
    },
  );

  it('a node name in two business clusters is two nodes', async () => {
    await deliver();
    const cloud = await addTenant();
    cloud.vms = cloud.vms.map((vm) => ({ ...vm, name: 'worker-1' }));
    scene.otherViolas.set('biz-2', new FakeViola());
    await scene.clock.advance(60_000);
    await scene.lookAt('multinic-system/tenant');
    const names = nodeNames(await get('nodes'));
    expect(names).toEqual(['biz-1/worker-1', 'biz-1/worker-2', 'biz-2/worker-1']);
    expect((await get('nodes/biz-2/worker-1')).body).toMatchObject({ instanceId: serverIds[2] });
  });

  it('an unread Neutron is 503 with the failing OpenstackConfig, not an unknown port', async () => {
    scene.cloud.fail('portsOf', 'unauthorized', 'keystone');
    scene.cloud.fail('portRecord', 'unauthorized', 'keystone');
    attach(scene.cloud, 1, 1);
    scene.create();
    await scene.look();
    const { status, body } = await get('ports?portId=p1');
    expect([status, body['code']]).toEqual([503, 'PortUnread']);
    expect(body['detail']).toContain('multinic-system/osc: keystone');
  });

  it('an OpenstackConfig without a completed sync is listed by spec ids', async () => {
    attach(scene.cloud, 1, 1);
    scene.viola.fail(503);
    scene.create();
    await scene.look();
    const { items } = await get<PortView>('ports?portId=p1');
    expect(items).toMatchObject([
      {
        portId: 'p1',
        configs: [{ selectsServer: true, ready: 'False', reason: 'ViolaPostError' }],
      },
    ]);
  });

  it('a paused OpenstackConfig is shown with the annotation value', async () => {
    await deliver();
    scene.kube.annotate({ 'multinic.io/paused': 'true' });
    await scene.look();
    const { items } = await get<PortView>('ports?mac=fa:16:3e:00:00:01');
    expect(items[0]?.configs).toMatchObject([{ paused: 'true', ready: 'Unknown' }]);
    expect(items[0]?.configs[0]).not.toHaveProperty('nextSyncAt');
  });
});
