import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { identities } from '../../../rig/chain/identities.ts';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';
import { entry } from '../../../test/fixtures/controller-samples.ts';
import { configured as answered } from '../../../test/fixtures/scripted-agents.ts';
import { claimsOfParts } from '../../../test/rbac/claims.ts';
import { clusterRoles, roles, setRules } from '../../../test/rbac/roles.ts';
import { useOf } from '../../../test/rbac/used.ts';
import { protocol } from '../../api/job.ts';
import { configMaps, nodes, services } from '../../kube/core-resources.ts';
import { defineResource } from '../../kube/resource.ts';

const good = 'True AllInterfacesConfigured';
const namespace = 'multinic-system';
const published = { namespace, name: 'multinic-cluster-networks' };
const apiServer = { namespace: 'default', name: 'kubernetes' };
const endpointSlices = defineResource({
  group: 'discovery.k8s.io',
  version: 'v1',
  plural: 'endpointslices',
  kind: 'EndpointSlice',
  namespaced: true,
});

let fixture: ControllerFixture;

beforeEach(async () => {
  fixture = await ControllerFixture.start();
  await fixture.addNode('worker-1');
});

afterEach(async () => {
  await fixture[Symbol.asyncDispose]();
});

const networking = (serviceSubnet: string) =>
  `kind: ClusterConfiguration\nnetworking:\n  serviceSubnet: ${serviceSubnet}\n`;

async function installWith(serviceSubnet: string): Promise<void> {
  const { admin } = fixture;
  const metadata = { namespace: 'kube-system', name: 'kubeadm-config' };
  const data = { ClusterConfiguration: networking(serviceSubnet) };
  await admin.create(configMaps, { metadata, data });
  await admin.create(services, {
    metadata: apiServer,
    spec: { clusterIP: '10.96.0.1', ports: [{ port: 443 }] },
  });
  await admin.create(endpointSlices, {
    metadata: apiServer,
    endpoints: [{ addresses: ['192.0.2.9'] }],
    ports: [{ port: 6443 }],
  } as never);
}

async function publishedNow(): Promise<unknown> {
  const found = await fixture.admin.find(configMaps, published);
  const text = found?.data?.['networks.json'];
  return text === undefined ? undefined : (JSON.parse(text) as unknown);
}

const untilPublished = () =>
  fixture.eventually(
    async () => (await publishedNow()) !== undefined,
    () => 'no ConfigMap',
  );

/** Passes the interval between two reads, with the jitter. */
const passInterval = () => fixture.pass(40, 30_000);

const configured = async () => {
  await fixture.apply('worker-1', { interfaces: [entry(0)] });
  return fixture.untilReady('worker-1', good);
};

const serviceNetwork = { cidr: '10.96.0.0/12', use: 'Services', source: 'kubeadm-config' };
const podNetwork = (cidr: string) => ({ cidr, use: 'Pods', source: 'Node podCIDRs' });

function networkWrites(): readonly string[] {
  return fixture.api.audit
    .filter(
      ({ user, resource, namespace: at, status }) =>
        user === identities.controller &&
        resource === 'configmaps' &&
        at === namespace &&
        status < 300,
    )
    .map(({ verb }) => verb)
    .filter((verb) => verb !== 'get');
}

it('requests carry networks and API server, and the ConfigMap has the networks', async () => {
  await installWith('10.96.0.0/12');
  await fixture.admin.patch(nodes, { name: 'worker-1' }, { spec: { podCIDRs: ['10.244.0.0/24'] } });
  fixture.run();
  await configured();
  const [request] = fixture.agents.requests;
  expect(request).toMatchObject({
    protocol,
    clusterNetworks: [serviceNetwork, podNetwork('10.244.0.0/24')],
    apiServer: {
      service: { address: '10.96.0.1', port: 443 },
      endpoints: [{ address: '192.0.2.9', port: 6443 }],
    },
  });
  await untilPublished();
  expect(await publishedNow()).toEqual([serviceNetwork, podNetwork('10.244.0.0/24')]);
});

it('a Node that joins starts no apply, and a changed network is published with a single write', async () => {
  await installWith('10.96.0.0/12');
  fixture.run();
  await configured();
  await untilPublished();
  await fixture.addNode('worker-2', '22222222-aaaa-bbbb-cccc-000000000002', '192.0.2.2');
  await fixture.admin.patch(nodes, { name: 'worker-2' }, { spec: { podCIDRs: ['10.244.1.0/24'] } });
  await passInterval();
  const applies = fixture.agents.requests.filter(({ action }) => action === 'apply');
  expect(applies).toHaveLength(1);
  expect(await publishedNow()).toEqual([serviceNetwork, podNetwork('10.244.1.0/24')]);
  expect(networkWrites()).toEqual(['create', 'patch']);
});

it('an older agent receives neither networks nor API server', async () => {
  await installWith('10.96.0.0/12');
  fixture.agents.answer = (request) =>
    request.protocol > 4 ? JSON.stringify({ protocol: 9 }) : answered(request);
  fixture.run();
  await configured();
  const first = fixture.agents.requests[0];
  const last = fixture.agents.requests.at(-1);
  expect(first?.clusterNetworks).toBeDefined();
  expect(last).toMatchObject({ protocol: 4 });
  expect(last).not.toHaveProperty('clusterNetworks');
  expect(last).not.toHaveProperty('apiServer');
});

it('networks in the settings are sent and published', async () => {
  fixture.run({ 'service-cidrs': '10.9.0.0/16,FD09::/112', 'pod-networks': '10.8.0.0/16' });
  await configured();
  const { clusterNetworks = [] } = fixture.agents.requests[0] ?? {};
  expect(clusterNetworks.map(({ cidr }) => cidr)).toEqual([
    '10.9.0.0/16',
    'fd09::/112',
    '10.8.0.0/16',
  ]);
  await untilPublished();
});

it.each<[string, () => Promise<unknown>]>([
  ['deleted', async () => fixture.admin.delete(configMaps, published)],
  [
    'edited',
    async () => {
      const data = { 'networks.json': '[]' };
      return fixture.admin.patch(configMaps, published, { data });
    },
  ],
])('a published ConfigMap %s by a user is repaired after the next read', async (_, change) => {
  await installWith('10.96.0.0/12');
  fixture.run();
  await untilPublished();
  await change();
  await passInterval();
  expect(await publishedNow()).toEqual([serviceNetwork]);
});

it('a cluster with unknown networks gets no ConfigMap', async () => {
  fixture.run();
  await configured();
  await fixture.pass(20, 10_000);
  expect(await publishedNow()).toBeUndefined();
});

describe.each(['before', 'after'] as const)(
  'a controller killed %s controller.networks.write',
  (phase) => {
    it('the networks are published after a restart', async () => {
      await installWith('10.96.0.0/12');
      let kills = 1;
      fixture.onEffect = (effect, at) => {
        if (effect !== 'controller.networks.write' || at !== phase || kills === 0) return;
        kills -= 1;
        throw new Error('killed');
      };
      fixture.run();
      await fixture.eventually(
        () => fixture.stopped,
        () => 'the controller went on',
      );
      await fixture.stop();
      fixture.run();
      await configured();
      await untilPublished();
      await fixture.pass(20);
      expect(await publishedNow()).toEqual([serviceNetwork]);
      expect(networkWrites()).toEqual(['create']);
    });
  },
);

describe('rights for networks of the cluster', () => {
  const optional = claimsOfParts().controller.filter(({ right }) => right.optional);

  it('the controller uses each optional right and requests nothing beyond', async () => {
    // Without a ServiceCIDR and kubeadm-config, the controller lists Services.
    await fixture.admin.create(services, { metadata: apiServer, spec: { clusterIP: '10.96.0.1' } });
    fixture.run();
    await configured();
    await untilPublished();
    await fixture.addNode('worker-2', '22222222-aaaa-bbbb-cccc-000000000002', '192.0.2.2');
    await fixture.admin.patch(
      nodes,
      { name: 'worker-2' },
      { spec: { podCIDRs: ['10.244.1.0/24'] } },
    );
    await passInterval();
    const { unused, refused } = useOf(fixture.api.audit, identities.controller, optional);
    expect(unused).toEqual([]);
    expect(refused).toEqual([]);
  });

  it('without the optional rights NICs are configured, and the log names each right once', async () => {
    await installWith('10.96.0.0/12');
    const { admin } = fixture;
    for (const name of ['multinic-controller-networks', 'multinic-controller-api-server']) {
      const at = name.endsWith('networks') ? 'kube-system' : 'default';
      await setRules(admin, roles, { namespace: at, name }, () => []);
    }
    await setRules(admin, clusterRoles, { name: 'multinic-controller' }, (rules) =>
      rules.filter(({ resources }) => !(resources[0] ?? '').startsWith('service')),
    );
    fixture.run();
    await configured();
    await fixture.pass(30, 10_000);
    const named = fixture.lines
      .map((line) => JSON.parse(line) as { readonly source?: string; readonly reason?: string })
      .filter(({ reason }) => reason === 'RightsMissing')
      .map(({ source = '' }) => source)
      .toSorted((a, b) => a.localeCompare(b));
    expect(named).toEqual(
      [
        'Endpoints default/kubernetes',
        'EndpointSlice default/kubernetes',
        'Service default/kubernetes',
        'ServiceCIDR',
        'Services',
        'kubeadm-config',
      ].toSorted((a, b) => a.localeCompare(b)),
    );
    expect(fixture.agents.requests[0]).not.toHaveProperty('clusterNetworks');
  });
});
