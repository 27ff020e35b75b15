import { afterEach, beforeEach, expect, it } from 'vitest';
import { nodeNames, portIds, ReadApiFixture } from '../../../../test/fixtures/read-api.ts';
import type { PortView } from '../../../api/read-http.ts';
import { FakeViola } from '../../testing/fake-viola.ts';
import { attach, type Scene, serverIds } from '../../testing/scene.ts';

let api: ReadApiFixture;
let scene: Scene;

beforeEach(async () => {
  api = await ReadApiFixture.open();
  ({ scene } = api);
});

afterEach(async () => api[Symbol.asyncDispose]());

it('a port from the last sync shows NIC, node, delivery and OpenstackConfig', async () => {
  await api.deliver();
  const { items } = await api.get<PortView>('ports?address=10.0.10.1');
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
  await api.deliver();
  scene.cloud.disabled.add('p1');
  const { items } = await api.get<PortView>('ports?portId=P1');
  expect(items).toMatchObject([
    { portId: 'p1', source: 'neutron', adminStateUp: false, verdict: { nic: 'multinic0' } },
  ]);
  scene.cloud.fail('portRecord', 'timeout');
  expect((await api.get<PortView>('ports?portId=p1')).items).toMatchObject([{ source: 'sync' }]);
});

it('an unselected port is read from Neutron in the account’s own project only', async () => {
  await api.deliver();
  attach(scene.cloud, 7, 3);
  attach(scene.cloud, 8, 3);
  scene.cloud.ports = scene.cloud.ports.map((port) =>
    port.id === 'p8' ? { ...port, projectId: 'project-2' } : port,
  );
  const { items } = await api.get<PortView>(`ports?serverId=${serverIds[2]}`);
  expect(items).toMatchObject([
    {
      portId: 'p7',
      source: 'neutron',
      configs: [{ config: 'multinic-system/osc', selectsServer: false, selectsSubnet: true }],
    },
  ]);
  expect(items[0]).not.toHaveProperty('verdict');
  expect((await api.get('ports?portId=p8')).status).toBe(404);
  expect(portIds(await api.get('ports?mac=FA-16-3E-00-00-07'))).toEqual(['p7']);
});

it('accounts outside the caller’s business clusters are never used', async () => {
  await api.deliver();
  const { clouds } = scene;
  const before = clouds.identities.length;
  expect((await api.get('ports?portId=p1', 'two')).status).toBe(404);
  expect(clouds.identities.length).toBe(before);
});

it.each([
  { query: 'mac=fa:16:3e:00:00:01', name: 'two ports with one MAC' },
  { query: 'address=10.0.10.1', name: 'an address in two clouds' },
])(
  '$name are two answers, but a single answer for a caller with a single cluster',
  async ({ query }) => {
    await api.deliver();
    const fixedIps = [{ subnetId: 'sub-a', ipAddress: '10.0.10.1' }];
    await api.addTenant({ macAddress: 'fa:16:3e:00:00:01', fixedIps });
    expect(portIds(await api.get(`ports?${query}`)).toSorted()).toEqual(['p1', 'p9']);
    expect(portIds(await api.get(`ports?${query}`, 'two'))).toEqual(['p9']);
  },
);

it('a node name in two business clusters is two nodes', async () => {
  await api.deliver();
  const cloud = await api.addTenant();
  cloud.vms = cloud.vms.map((vm) => ({ ...vm, name: 'worker-1' }));
  scene.otherViolas.set('biz-2', new FakeViola());
  await scene.clock.advance(60_000);
  await scene.lookAt('multinic-system/tenant');
  const names = nodeNames(await api.get('nodes'));
  expect(names).toEqual(['biz-1/worker-1', 'biz-1/worker-2', 'biz-2/worker-1']);
  expect((await api.get('nodes/biz-2/worker-1')).body).toMatchObject({ instanceId: serverIds[2] });
});

it('an unread Neutron is 503 with the failing OpenstackConfig, not an unknown port', async () => {
  scene.cloud.fail('portsOf', 'unauthorized', 'keystone');
  scene.cloud.fail('portRecord', 'unauthorized', 'keystone');
  attach(scene.cloud, 1, 1);
  scene.create();
  await scene.look();
  const { status, body } = await api.get('ports?portId=p1');
  expect([status, body['code']]).toEqual([503, 'PortUnread']);
  expect(body['detail']).toContain('multinic-system/osc: keystone');
});

it('an OpenstackConfig without a completed sync is listed by spec ids', async () => {
  attach(scene.cloud, 1, 1);
  scene.viola.fail(503);
  scene.create();
  await scene.look();
  const { items } = await api.get<PortView>('ports?portId=p1');
  expect(items).toMatchObject([
    {
      portId: 'p1',
      configs: [{ selectsServer: true, ready: 'False', reason: 'ViolaPostError' }],
    },
  ]);
});

it('a paused OpenstackConfig is shown with the annotation value', async () => {
  await api.deliver();
  scene.kube.annotate({ 'multinic.io/paused': 'true' });
  await scene.look();
  const { items } = await api.get<PortView>('ports?mac=fa:16:3e:00:00:01');
  expect(items[0]?.configs).toMatchObject([{ paused: 'true', ready: 'Unknown' }]);
  expect(items[0]?.configs[0]).not.toHaveProperty('nextSyncAt');
});

it('a port of an OpenstackConfig being deleted is the last sync’s, and unread without a sync', async () => {
  await api.deliver();
  scene.kube.delete();
  await scene.reconcile(1_000);
  expect((await api.get<PortView>('ports?portId=p1')).items).toMatchObject([
    { source: 'sync', verdict: { nic: 'multinic0' }, configs: [{ reason: 'Deleting' }] },
  ]);
  scene.leadAgain();
  const { status, body } = await api.get('ports?portId=p1');
  expect([status, body['code']]).toEqual([503, 'PortUnread']);
  expect(body['detail']).toContain('it is being deleted');
});

it('a port of another project names the OpenstackConfig that selects its server', async () => {
  scene.cloud.vms = scene.cloud.vms.map((vm) => ({ ...vm, projectId: 'project-9' }));
  attach(scene.cloud, 1, 1);
  attach(scene.cloud, 2, 3);
  scene.cloud.ports = scene.cloud.ports.map((port) => ({ ...port, projectId: 'project-9' }));
  scene.create();
  await scene.look();
  const configs = [
    { config: 'multinic-system/osc', selectsServer: true, selectsSubnet: true, ready: 'True' },
  ];
  for (const query of ['portId=p1', 'address=10.0.10.1']) {
    const { items } = await api.get<PortView>(`ports?${query}`);
    expect(items).toMatchObject([{ verdict: { nic: 'multinic0' }, configs }]);
  }
  expect((await api.get('ports?portId=p2')).status).toBe(404);
});
