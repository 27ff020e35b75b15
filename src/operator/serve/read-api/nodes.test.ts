import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { configured, nodeNames, ReadApiFixture } from '../../../../test/fixtures/read-api.ts';
import type { NodeView, PortView } from '../../../api/read-http.ts';
import { attach, type Scene, serverIds } from '../../testing/scene.ts';

let api: ReadApiFixture;
let scene: Scene;

beforeEach(async () => {
  api = await ReadApiFixture.open();
  ({ scene } = api);
});

afterEach(async () => api[Symbol.asyncDispose]());

describe('GET /v1/nodes', () => {
  it('a node created by the last sync has no status yet, and an updated node is Pending', async () => {
    await api.deliver();
    const states = async () =>
      (await api.get<NodeView>('nodes')).items.map((node) => [node.state, node.message]);
    const created = [
      'Unknown',
      'the MultiNicNodeConfig was created by this sync and has no status yet',
    ];
    expect(await states()).toEqual([created, created]);
    for (const n of [1, 2]) api.report(`worker-${n}`, configured(`p${n}`, `fa:16:3e:00:00:0${n}`));
    attach(scene.cloud, 3, 1);
    await scene.look();
    expect(await states()).toEqual([
      ['Pending', 'the controller has not processed generation 2 yet'],
      ['Configured', ''],
    ]);
    const [node] = (await api.get<NodeView>('nodes')).items;
    expect(node?.nics.map(({ state }) => state)).toEqual(['Configured', 'Pending']);
  });

  it('a node shows NICs, the status from the business cluster and unused ports', async () => {
    attach(scene.cloud, 3, 1);
    const [port] = scene.cloud.ports;
    if (port) scene.cloud.ports = [{ ...port, createdAt: '2025-01-01T00:00:00Z' }];
    await api.deliver();
    api.report('worker-1', configured('p1', 'fa:16:3e:00:00:01'));
    await scene.look();
    const { items } = await api.get<NodeView>('nodes');
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

  it('a node whose object cannot be read says so, in and after a sync', async () => {
    await api.deliver();
    scene.viola.unreadable.add('worker-1');
    await scene.look();
    for (const ms of [0, 60_000]) {
      await scene.clock.advance(ms);
      const [node] = (await api.get<NodeView>('nodes')).items;
      const message = 'spec.interfaces: Invalid input';
      expect(node).toMatchObject({ nodeName: 'worker-1', state: 'Unknown', message });
    }
  });

  it('a ready node shows the build of its agent, the carrier and the warnings', async () => {
    await api.deliver();
    const status = configured('p1', 'fa:16:3e:00:00:01');
    const [ready] = status.conditions ?? [];
    const [nic] = status.interfaceStatuses ?? [];
    if (!ready) throw new Error('the status has a condition');
    api.report('worker-1', {
      ...status,
      conditions: [{ ...ready, message: '1 interface configured; warnings: FilesLeft /a' }],
      interfaceStatuses: [{ ...nic, carrier: true }],
      applied: { ...status.applied, version: '0.2.0' },
    });
    await scene.look();
    const [node] = (await api.get<NodeView>('nodes')).items;
    expect(node).toMatchObject({ reason: '', message: 'warnings: FilesLeft /a' });
    expect(node).toMatchObject({ agentVersion: '0.2.0', nics: [{ carrier: true }] });
  });

  it('an observed node shows mode and found configuration, in and after a sync', async () => {
    await api.deliver();
    scene.edit({ settings: { mode: 'Observe' } });
    await scene.look();
    expect((await api.get<NodeView>('nodes')).items[0]?.mode).toBe('Observe');
    const status = configured('p1', 'fa:16:3e:00:00:01');
    const [nic] = status.interfaceStatuses ?? [];
    const found = { file: '/etc/netplan/50-cloud-init.yaml', section: 'ethernets.ens4.dhcp4' };
    const entry = { ...nic, status: 'Observed', reason: 'NICInUse', found };
    api.report('worker-1', { ...status, state: 'Observed', interfaceStatuses: [entry] });
    await scene.look();
    const shown = { state: 'Observed', mode: 'Observe', nics: [{ state: 'Observed', found }] };
    expect((await api.get<NodeView>('nodes')).items[0]).toMatchObject(shown);
    await scene.clock.advance(60_000);
    expect((await api.get<NodeView>('nodes')).items[0]).toMatchObject(shown);
  });

  it('a node that was applied after its last check shows the end of the apply', async () => {
    await api.deliver();
    const status = configured('p1', 'fa:16:3e:00:00:01');
    const { checkedAt: _, ...applied } = status.applied ?? {};
    const at = '2026-01-01T00:01:00Z';
    api.report('worker-1', { ...status, applied: { ...applied, done: true, at } });
    await scene.look();
    const [node] = (await api.get<NodeView>('nodes')).items;
    expect(node).toMatchObject({ checkedAt: at });
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
    await api.deliver();
    api.report('worker-1', configured('p1', 'fa:16:3e:00:00:01'));
    const ready = { type: 'Ready', status: 'False', reason: 'NICInUse' } as const;
    api.report('worker-2', { state: 'Failed', conditions: [ready] });
    await scene.look();
    await api.addTenant();
    expect(nodeNames(await api.get(`nodes${query}`, as))).toEqual(names);
  });

  it('pages follow the continue token', async () => {
    await api.deliver();
    await api.addTenant();
    const first = await api.get<NodeView>('nodes?limit=2');
    const next = String(first.body['continue']);
    const second = await api.get<NodeView>(`nodes?limit=2&continue=${next}`);
    expect([nodeNames(first), nodeNames(second)]).toEqual([
      ['biz-1/worker-1', 'biz-1/worker-2'],
      ['biz-2/worker-3'],
    ]);
    expect(second.body).not.toHaveProperty('continue');
  });

  it.each([
    { path: 'nodes?nodeName=worker-1', status: 400 },
    { path: 'nodes?continue=x', status: 400 },
    { path: 'nodes?state=Bogus', status: 400, detail: 'state' },
    { path: 'nodes?reason=NicInUs', status: 400, detail: 'did you mean `NICInUse`' },
    { path: 'nodes/biz-1/worker-9', status: 404, code: 'NoSuchNode' },
    { path: 'nodes/biz-1/worker-1', as: 'two', status: 404, code: 'NoSuchNode' },
    { path: 'nodes', as: 'w', status: 403, code: 'VerbDenied' },
    { path: 'nodes', as: 'nobody', status: 401, code: 'TokenUnknown' },
    { path: 'ports', status: 400 },
    { path: 'ports?portId=p1&mac=fa:16:3e:00:00:01', status: 400 },
    { path: 'ports?portId=..', status: 400 },
    { path: 'ports?portId=p1%00', status: 400 },
    { path: 'ports?serverId=a%2Fb', status: 400 },
    { path: 'ports?mac=worker-1', status: 400 },
    { path: 'ports?address=10.0.10.1/24', status: 400 },
    { path: 'ports?portId=p99', status: 404, code: 'NoSuchPort' },
  ])(
    '$path for caller $as is $status',
    async ({ path, as, status, code = 'InvalidRequest', detail = '' }) => {
      await api.deliver();
      const answer = await api.get(path, as);
      expect([answer.status, answer.body['code']]).toEqual([status, code]);
      expect(answer.body['detail']).toContain(detail);
    },
  );

  it.each(['clusters', 'nodes', 'nodes/biz-1/worker-1', 'ports?portId=p1'])(
    '%s is 503 on a replica without leadership',
    async (path) => {
      await api.deliver();
      api.unavailable = 'another replica of the operator leads';
      const { status, body } = await api.get(path);
      expect([status, body['code']]).toEqual([503, 'NotLeading']);
    },
  );

  it('a new leadership term and a deleted OpenstackConfig leave no node', async () => {
    await api.deliver();
    scene.leadAgain();
    expect(nodeNames(await api.get('nodes'))).toEqual([]);
    await scene.look();
    expect(nodeNames(await api.get('nodes'))).toHaveLength(2);
    scene.kube.configs.replace([]);
    await scene.reconcile(0);
    expect(nodeNames(await api.get('nodes'))).toEqual([]);
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
    await api.deliver();
    api.report('worker-1', configured('p1', 'fa:16:3e:00:00:01'));
    await scene.look();
    scene.leadAgain();
    act();
    await sync();
    const { items } = await api.get<NodeView>('nodes');
    expect(items).toMatchObject([
      { nodeName: 'worker-1', state: 'Configured', nics: [{ portId: 'p1', state: 'Configured' }] },
      { nodeName: 'worker-2', instanceId: serverIds[1], unusedPorts: [] },
    ]);
    const ports = await api.get<PortView>('ports?portId=p1');
    expect(ports.items).toMatchObject([
      {
        verdict: { nic: 'multinic0' },
        node: { nodeName: 'worker-1' },
        configs: [{ selectsServer: true }],
      },
    ]);
    const lists = scene.viola.lists.length;
    await api.get('nodes');
    expect(scene.viola.lists.length).toBe(lists);
  });
});

describe.each([
  ['while OpenStack is down', () => scene.cloud.fail('portsOf', 'timeout')],
  [
    'while the OpenstackConfig is paused',
    () => scene.kube.annotate({ 'multinic.io/paused': 'true' }),
  ],
  ['while the trigger mode starts no sync', () => scene.trigger('mode: manual')],
  ['while the OpenstackConfig is being deleted', () => scene.kube.delete()],
])('%s', (_, act) => {
  it.each([
    ['in the same term', () => undefined],
    ['in a new term', () => scene.leadAgain()],
  ])('nodes are as the business cluster has them, %s', async (_term, begin) => {
    await api.deliver();
    act();
    begin();
    await scene.look();
    const ready = { type: 'Ready', status: 'False', reason: 'NICInUse' } as const;
    api.report('worker-1', { state: 'Failed', conditions: [ready] });
    scene.viola.nodes.delete('worker-2');
    await scene.clock.advance(60_000);
    const { items } = await api.get<NodeView>('nodes');
    expect(items[0]).toMatchObject({ nodeName: 'worker-1', observedAt: '2026-01-01T00:01:30Z' });
    expect(items.map(({ state }) => state)).not.toContain('Configured');
    expect(items[1]?.state ?? 'Unknown').toBe('Unknown');
  });
});

describe('GET /v1/nodes/{providerId}/{nodeName}', () => {
  it('a fresh read shows the object and drops an outdated status', async () => {
    await api.deliver();
    api.report('worker-1', configured('p1', 'fa:16:3e:00:00:01'));
    await scene.look();
    const conditions = [
      { type: 'Ready', status: 'False', reason: 'NICInUse', message: 'x' } as const,
    ];
    api.report('worker-1', {
      state: 'Failed',
      conditions,
      lastJobName: 'job-1',
      applied: { attempt: 4 },
    });
    const { body: stored } = await api.get('nodes/biz-1/worker-1');
    expect(stored).toMatchObject({ state: 'Configured' });
    expect(stored).not.toHaveProperty('object');
    const { body } = await api.get('nodes/biz-1/worker-1?fresh=true');
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

  it('a fresh read shows held NICs, and removals of the last hour with their basis', async () => {
    await api.deliver();
    const macs = ['fa:16:3e:00:00:09'];
    const heldRemovals = { code: 'OverBudget', macs, since: '2026-01-01T00:00:00Z' };
    const removed = [
      { mac: 'fa:16:3e:00:00:08', basis: 'named' as const, at: '2026-01-01T00:00:00Z' },
    ];
    api.report('worker-1', { state: 'Configured', heldRemovals, applied: { removed } });
    const { body } = await api.get('nodes/biz-1/worker-1?fresh=true');
    expect(body).toMatchObject({ object: { heldRemovals, removed } });
  });

  it('a fresh read is 503 with the next step when Viola cannot read the cluster', async () => {
    await api.deliver();
    scene.viola.fail(503, 'cluster unreachable');
    const { status, body } = await api.get('nodes/biz-1/worker-1?fresh=true');
    expect([status, body['code']]).toEqual([503, 'NodeUnread']);
    expect(body['detail']).toContain('; the last answer is of ');
  });
});
