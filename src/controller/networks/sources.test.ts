import { beforeEach, describe, expect, it } from 'vitest';
import type { ClusterNetwork } from '../../api/cluster-networks.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { KubeError } from '../../kube/errors.ts';
import { createFakeClock } from '../../time/fake-clock.ts';
import { type ClusterFactsOptions, createClusterFacts } from './cluster-facts.ts';

/** Objects by `resource version`, or `resource namespace/name`; an error: the read fails. */
type Objects = Readonly<Record<string, readonly object[] | object | KubeError>>;

const forbidden = new KubeError({ status: 403, reason: 'Forbidden', message: 'forbidden' });
const unserved = new KubeError({ status: 404, reason: 'Unserved', message: 'page not found' });
const broken = new KubeError({ status: 500, reason: 'InternalError', message: 'etcd is away' });

const kubeadm = (networking: string) => ({
  data: { ClusterConfiguration: `kind: ClusterConfiguration\nnetworking:\n${networking}` },
});
const usual = kubeadm('  serviceSubnet: 10.96.0.0/12\n  podSubnet: 10.244.0.0/16\n');
const serviceCidr = (...cidrs: string[]) => ({ metadata: { name: 'kubernetes' }, spec: { cidrs } });
const service = (...clusterIPs: string[]) => ({ metadata: { name: 's' }, spec: { clusterIPs } });

const v1 = 'servicecidrs v1';
const v1beta1 = 'servicecidrs v1beta1';
const config = 'configmaps kube-system/kubeadm-config';
const services = 'services v1';

let objects: Objects;
let warnings: string[];
let events: string[];
let requests: string[];

beforeEach(() => {
  [objects, warnings, events, requests] = [{}, [], [], []];
});

function answer(key: string): unknown {
  requests.push(key);
  const found = objects[key];
  if (found instanceof KubeError) throw found;
  return found;
}

const listed = (key: string) => {
  const items = answer(key);
  if (items === undefined && key !== services) throw unserved;
  return { items: items ?? [], resourceVersion: '1' };
};

/** Returns a client for `objects`: unlisted kinds are not served, unlisted names do not exist. */
function client() {
  return {
    find: async ({ plural }: { plural: string }, ref: { namespace: string; name: string }) =>
      Promise.resolve(answer(`${plural} ${ref.namespace}/${ref.name}`)),
    list: async ({ plural, version }: { plural: string; version: string }) =>
      Promise.resolve(listed(`${plural} ${version}`)),
    listAll: async ({ plural, version }: { plural: string; version: string }) =>
      Promise.resolve(listed(`${plural} ${version}`)),
  } as unknown as KubeClient;
}

const scattered = (n: number, at: number) => (n * 7919 * at) % 256;

const sliceOf = (...addresses: string[]) => ({
  endpoints: [{ addresses, conditions: { ready: true } }],
  ports: [{ port: 6443 }],
});

const at = (address: string, port = 6443) => ({ address, port });

const manyPodCidrs = () => Array.from({ length: 300 }, (_, n) => `10.244.${n % 200}.${n % 7}/32`);

const published = { read: async () => Promise.resolve(undefined), write: async () => undefined };

function factsWith(options: Partial<ClusterFactsOptions> = {}) {
  return createClusterFacts({
    client: client(),
    published,
    serviceCIDRs: [],
    podNetworks: [],
    podCidrs: () => [],
    clock: createFakeClock(),
    random: () => 0.5,
    log: {
      warn: (_: object, text: string) => void warnings.push(text),
    } as unknown as ClusterFactsOptions['log'],
    onMissingRight: (message) => void events.push(message),
    ...options,
  });
}

const { signal } = new AbortController();

const textOf = ({ cidr, use, source }: ClusterNetwork) => `${use} ${cidr} ${source}`;

/** Reads once; returns each network as `use cidr source`. */
async function read(options: Partial<ClusterFactsOptions> = {}): Promise<readonly string[]> {
  const facts = factsWith(options);
  await facts.begin(signal);
  return facts.current().networks.map(textOf);
}

async function server() {
  const facts = factsWith();
  await facts.begin(signal);
  return facts.current().apiServer;
}

describe('order of the sources', () => {
  it.each<[string, Objects, Partial<ClusterFactsOptions>, readonly string[]]>([
    ['an empty cluster has no networks', {}, {}, []],
    [
      'settings come first',
      { [v1]: [serviceCidr('10.9.0.0/16')], [config]: usual },
      { serviceCIDRs: ['10.1.0.0/16'], podNetworks: ['10.2.0.0/16', 'fd02::/64'] },
      [
        'Services 10.1.0.0/16 controller.serviceCIDRs',
        'Pods 10.2.0.0/16 controller.podNetworks',
        'Pods fd02::/64 controller.podNetworks',
      ],
    ],
    [
      'Services and Pods have separate sources',
      { [v1]: [serviceCidr('10.9.0.0/16')], [config]: usual },
      { podCidrs: () => ['10.7.0.0/24'] },
      ['Services 10.9.0.0/16 ServiceCIDR', 'Pods 10.244.0.0/16 kubeadm-config'],
    ],
    [
      'two ServiceCIDRs of both families count',
      { [v1]: [serviceCidr('10.96.0.0/12', 'fd00:96::/108'), serviceCidr('172.20.0.0/24')] },
      {},
      [
        'Services 10.96.0.0/12 ServiceCIDR',
        'Services 172.20.0.0/24 ServiceCIDR',
        'Services fd00:96::/108 ServiceCIDR',
      ],
    ],
    [
      'ServiceCIDR v1beta1 follows v1',
      { [v1beta1]: [serviceCidr('10.96.0.0/12')] },
      {},
      ['Services 10.96.0.0/12 ServiceCIDR'],
    ],
    [
      'kubeadm-config follows an API server without ServiceCIDR',
      { [config]: kubeadm('  serviceSubnet: "10.96.0.0/16, FD00:96::/112"\n') },
      {},
      ['Services 10.96.0.0/16 kubeadm-config', 'Services fd00:96::/112 kubeadm-config'],
    ],
    [
      'addresses of all Services are the last source',
      { [services]: [service('10.96.0.1', 'fd00:96::1'), service('None'), service('10.96.0.10')] },
      {},
      [
        'Services 10.96.0.1/32 Services',
        'Services 10.96.0.10/32 Services',
        'Services fd00:96::1/128 Services',
      ],
    ],
    [
      'a Service from before dual stack has one address',
      { [services]: [{ metadata: { name: 's' }, spec: { clusterIP: '10.96.0.1' } }] },
      {},
      ['Services 10.96.0.1/32 Services'],
    ],
    [
      'podCIDRs of Nodes are merged',
      {},
      { podCidrs: () => ['10.244.1.0/24', '10.244.0.0/24', 'fd01::/64', 'x'] },
      ['Pods 10.244.0.0/23 Node podCIDRs', 'Pods fd01::/64 Node podCIDRs'],
    ],
    ['Nodes without podCIDRs name no Pods', { [config]: kubeadm('  {}\n') }, {}, []],
  ])('%s', async (_, given, options, expected) => {
    objects = given;
    expect(await read(options)).toEqual(expected);
    expect(warnings).toEqual([]);
  });

  it('Services are not listed while another source answers', async () => {
    objects = { [config]: usual, [services]: [service('10.96.0.1')] };
    await read();
    expect(requests).not.toContain(services);
  });
});

describe('unreadable sources', () => {
  it.each<[string, string, string]>([
    ['ServiceCIDR', v1, 'list servicecidrs.networking.k8s.io'],
    ['kubeadm-config', config, 'get configmaps "kubeadm-config" in kube-system'],
  ])('without a right, %s is skipped with a single warning', async (source, key, right) => {
    objects = { [config]: usual, [services]: [service('10.96.0.1')], [key]: forbidden };
    const facts = factsWith();
    await facts.begin(signal);
    await facts.begin(signal);
    const [first] = facts.current().networks;
    expect(first?.source).toBe(source === 'ServiceCIDR' ? 'kubeadm-config' : 'Services');
    expect(warnings).toEqual([
      `missing right: ${right}; without it, ${source} is no source for networks of the cluster`,
    ]);
    expect(events).toEqual(warnings);
  });

  it('without any right the networks are unknown, with a warning per source', async () => {
    objects = { [v1]: forbidden, [config]: forbidden, [services]: forbidden };
    expect(await read()).toEqual([]);
    expect(warnings.map((text) => text.replace(/^missing right: (.*); .*/, '$1'))).toEqual([
      'list servicecidrs.networking.k8s.io',
      'get configmaps "kubeadm-config" in kube-system',
      'list services in all namespaces',
    ]);
  });

  it.each<[string, object]>([
    ['is no YAML', { data: { ClusterConfiguration: 'networking: [' } }],
    ['is empty', { data: { ClusterConfiguration: '' } }],
    ['is a list', { data: { ClusterConfiguration: '- a' } }],
    ['has numbers', kubeadm('  serviceSubnet: 10\n')],
    ['has an unknown network', kubeadm('  serviceSubnet: 10.96.0.0/33\n')],
    ['has one bad network', kubeadm('  serviceSubnet: 10.96.0.0/12,x\n')],
    ['has aliases', { data: { ClusterConfiguration: 'a: &a {b: *a}\nnetworking: {x: *a}' } }],
  ])('kubeadm-config that %s is skipped with a warning', async (_, malformed) => {
    objects = { [config]: malformed, [services]: [service('10.96.0.1')] };
    expect(await read()).toEqual(['Services 10.96.0.1/32 Services']);
    expect(warnings).toEqual(['kubeadm-config: networks of the cluster are not readable']);
    expect(events).toEqual([]);
  });

  it.each<[string, object]>([
    ['without data', {}],
    ['without ClusterConfiguration', { data: {} }],
    ['without networking', { data: { ClusterConfiguration: 'kind: ClusterConfiguration' } }],
  ])('kubeadm-config %s names no networks', async (_, object) => {
    objects = { [config]: object };
    expect(await read()).toEqual([]);
    expect(warnings).toEqual([]);
  });

  it('a failed read leaves the last networks in place', async () => {
    objects = { [v1]: [serviceCidr('10.96.0.0/12')], [config]: usual };
    const facts = factsWith();
    await facts.begin(signal);
    const before = facts.current().networks;
    objects = { [v1]: broken, [config]: broken };
    await facts.begin(signal);
    expect(facts.current().networks).toEqual(before);
    objects = { [config]: usual };
    await facts.begin(signal);
    expect(facts.current().networks.map(textOf)).toEqual([
      'Services 10.96.0.0/12 kubeadm-config',
      'Pods 10.244.0.0/16 kubeadm-config',
    ]);
  });

  it('after a restart, published networks replace failed reads', async () => {
    objects = { [v1]: broken, [config]: broken, [services]: broken };
    const stored: readonly ClusterNetwork[] = [
      { cidr: '10.96.0.0/12', use: 'Services', source: 'ServiceCIDR' },
      { cidr: '10.2.0.0/16', use: 'Pods', source: 'controller.podNetworks' },
    ];
    const read1 = async () => Promise.resolve(stored);
    expect(await read({ published: { ...published, read: read1 } })).toEqual([
      'Services 10.96.0.0/12 ServiceCIDR',
    ]);
  });
});

it('the networks have at most 64 prefixes from 600 addresses, with both uses', async () => {
  const many = Array.from({ length: 300 }, (_, n) => `10.96.${scattered(n, 3)}.${n % 251}`);
  objects = { [services]: many.map((ip) => service(ip)) };
  const networks = await read({ podCidrs: manyPodCidrs });
  expect(networks.length).toBeLessThanOrEqual(64);
  const byUse = Map.groupBy(networks, (text) => text.split(' ')[0]);
  expect([...byUse.keys()]).toEqual(['Services', 'Pods']);
});

describe('the API server', () => {
  const kubernetes = 'services default/kubernetes';
  const slice = 'endpointslices default/kubernetes';
  const old = 'endpoints default/kubernetes';
  const own = { spec: { clusterIP: '10.96.0.1', ports: [{ port: 443 }] } };

  it.each<[string, Objects, unknown]>([
    ['unknown without objects', {}, undefined],
    [
      'read from Service and EndpointSlice',
      { [kubernetes]: own, [slice]: sliceOf('192.0.2.1', '192.0.2.2') },
      { service: at('10.96.0.1', 443), endpoints: [at('192.0.2.1'), at('192.0.2.2')] },
    ],
    [
      'read from Endpoints in an older cluster',
      {
        [kubernetes]: own,
        [slice]: unserved,
        [old]: { subsets: [{ addresses: [{ ip: '192.0.2.1' }], ports: [{ port: 6443 }] }] },
      },
      { service: at('10.96.0.1', 443), endpoints: [at('192.0.2.1')] },
    ],
    [
      'read without endpoints',
      { [kubernetes]: own },
      { service: at('10.96.0.1', 443), endpoints: [] },
    ],
    [
      'read with IPv6 in short form',
      { [slice]: sliceOf('2001:DB8:0::1') },
      { endpoints: [at('2001:db8::1')] },
    ],
    [
      'read with eight endpoints at most, without names',
      { [slice]: sliceOf('name', ...Array.from({ length: 12 }, (_, n) => `192.0.2.${n}`)) },
      { endpoints: Array.from({ length: 8 }, (_, n) => at(`192.0.2.${n}`)) },
    ],
    [
      'read without endpoints that are not ready',
      {
        [slice]: {
          ...sliceOf(),
          endpoints: [{ addresses: ['192.0.2.1'], conditions: { ready: false } }],
        },
      },
      undefined,
    ],
    ['unknown with malformed objects', { [kubernetes]: {}, [slice]: { endpoints: 7 } }, undefined],
  ])('the API server is %s', async (_, given, expected) => {
    objects = given;
    expect(await server()).toEqual(expected);
  });

  it.each([kubernetes, slice, old])(
    'without the right to read %s a warning names it',
    async (key) => {
      objects = { [slice]: unserved, [key]: forbidden };
      expect(await server()).toBeUndefined();
      expect(warnings).toEqual([
        expect.stringContaining(
          `get ${key.startsWith('endpointslices') ? 'endpointslices' : key.split(' ')[0]}`,
        ),
      ]);
    },
  );

  it('a failed read leaves the last addresses in place', async () => {
    objects = { [kubernetes]: own, [slice]: sliceOf('192.0.2.1') };
    const facts = factsWith();
    await facts.begin(signal);
    const before = facts.current().apiServer;
    objects = { [kubernetes]: broken, [slice]: broken, [old]: broken };
    await facts.begin(signal);
    expect(facts.current().apiServer).toEqual(before);
  });
});
