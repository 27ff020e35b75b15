import { beforeEach, describe, expect, it } from 'vitest';
import type { ClusterNetwork } from '../../api/cluster-networks.ts';
import type { ClusterFactsOptions } from './cluster-facts.ts';
import {
  broken,
  ClusterObjects,
  forbidden,
  nodesWith,
  type Objects,
  services,
} from './testing/cluster-objects.ts';

const kubeadm = (networking: string) => ({
  data: { ClusterConfiguration: `kind: ClusterConfiguration\nnetworking:\n${networking}` },
});
const usual = kubeadm('  serviceSubnet: 10.96.0.0/12\n  podSubnet: 10.244.0.0/16\n');
const serviceCidr = (...cidrs: string[]) => ({ metadata: { name: 'kubernetes' }, spec: { cidrs } });
const service = (...clusterIPs: string[]) => ({ metadata: { name: 's' }, spec: { clusterIPs } });

const v1 = 'servicecidrs v1';
const v1beta1 = 'servicecidrs v1beta1';
const config = 'configmaps kube-system/kubeadm-config';

let cluster: ClusterObjects;

beforeEach(() => {
  cluster = new ClusterObjects();
});

const scattered = (n: number, at: number) => (n * 7919 * at) % 256;

const manyPodCidrs = Array.from({ length: 300 }, (_, n) => `10.244.${n % 200}.${n % 7}/32`);

const { signal } = new AbortController();

const textOf = ({ cidr, use, source }: ClusterNetwork) => `${use} ${cidr} ${source}`;

/** Reads once; returns each network as `use cidr source`. */
async function read(options: Partial<ClusterFactsOptions> = {}): Promise<readonly string[]> {
  const facts = cluster.facts(options);
  await facts.begin(signal);
  return facts.current().networks.map(textOf);
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
      { nodes: nodesWith(['10.7.0.0/24']) },
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
      { nodes: nodesWith(['10.244.1.0/24', '10.244.0.0/24', 'fd01::/64', 'x']) },
      ['Pods 10.244.0.0/23 Node podCIDRs', 'Pods fd01::/64 Node podCIDRs'],
    ],
    ['Nodes without podCIDRs name no Pods', { [config]: kubeadm('  {}\n') }, {}, []],
  ])('%s', async (_, given, options, expected) => {
    cluster.objects = given;
    expect(await read(options)).toEqual(expected);
    expect(cluster.warnings).toEqual([]);
  });

  it('Services are not listed while another source answers', async () => {
    cluster.objects = { [config]: usual, [services]: [service('10.96.0.1')] };
    await read();
    expect(cluster.requests).not.toContain(services);
  });
});

describe('unreadable sources', () => {
  it.each<[string, string, string]>([
    ['ServiceCIDR', v1, 'list servicecidrs.networking.k8s.io'],
    ['kubeadm-config', config, 'get configmaps "kubeadm-config" in kube-system'],
  ])('without a right, %s is skipped with a single warning', async (source, key, right) => {
    cluster.objects = { [config]: usual, [services]: [service('10.96.0.1')], [key]: forbidden };
    const facts = cluster.facts();
    await facts.begin(signal);
    await facts.begin(signal);
    const [first] = facts.current().networks;
    expect(first?.source).toBe(source === 'ServiceCIDR' ? 'kubeadm-config' : 'Services');
    expect(cluster.warnings).toEqual([
      expect.stringContaining(`${source}: missing right: ${right}; networks of Services`),
    ]);
    expect(cluster.events).toEqual(cluster.warnings);
  });

  it('without any right the networks are unknown, with a warning per source', async () => {
    cluster.objects = { [v1]: forbidden, [config]: forbidden, [services]: forbidden };
    expect(await read()).toEqual([]);
    expect(
      cluster.warnings.map((text) => text.replace(/^.*: missing right: ([^;]*); .*/, '$1')),
    ).toEqual([
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
    cluster.objects = { [config]: malformed, [services]: [service('10.96.0.1')] };
    expect(await read()).toEqual(['Services 10.96.0.1/32 Services']);
    expect(cluster.warnings).toEqual([
      expect.stringMatching(
        /^kubeadm-config: .+; networks of Services and Pods are not readable there; correct kubeadm-config, or set controller.serviceCIDRs and controller.podNetworks$/,
      ),
    ]);
    expect(cluster.events).toEqual([]);
  });

  it.each<[string, object]>([
    ['without data', {}],
    ['without ClusterConfiguration', { data: {} }],
    ['without networking', { data: { ClusterConfiguration: 'kind: ClusterConfiguration' } }],
  ])('kubeadm-config %s names no networks', async (_, object) => {
    cluster.objects = { [config]: object };
    expect(await read()).toEqual([]);
    expect(cluster.warnings).toEqual([]);
  });

  it('a failed read leaves the last networks in place', async () => {
    cluster.objects = { [v1]: [serviceCidr('10.96.0.0/12')], [config]: usual };
    const facts = cluster.facts();
    await facts.begin(signal);
    const before = facts.current().networks;
    cluster.objects = { [v1]: broken, [config]: broken };
    await facts.begin(signal);
    expect(facts.current().networks).toEqual(before);
    cluster.objects = { [config]: usual };
    await facts.begin(signal);
    expect(facts.current().networks.map(textOf)).toEqual([
      'Services 10.96.0.0/12 kubeadm-config',
      'Pods 10.244.0.0/16 kubeadm-config',
    ]);
  });

  it.each<[string, object]>([
    ['loses a right', forbidden],
    ['becomes malformed', kubeadm('  serviceSubnet: x\n')],
    ['fails', broken],
  ])('kubeadm-config that %s after a read keeps the last networks', async (_, later) => {
    cluster.objects = { [config]: usual, [services]: [service('10.96.0.1')] };
    const facts = cluster.facts({ nodes: nodesWith(['10.7.0.0/24']) });
    await facts.begin(signal);
    const before = facts.current().networks;
    cluster.objects = { ...cluster.objects, [config]: later };
    await facts.begin(signal);
    expect(facts.current().networks).toEqual(before);
    expect(before.map(textOf)).toEqual([
      'Services 10.96.0.0/12 kubeadm-config',
      'Pods 10.244.0.0/16 kubeadm-config',
    ]);
  });

  it('networks of a deleted kubeadm-config stay while ServiceCIDR is unreadable', async () => {
    cluster.objects = { [config]: usual };
    const facts = cluster.facts();
    await facts.begin(signal);
    cluster.objects = { [v1]: broken };
    await facts.begin(signal);
    expect(facts.current().networks.map(textOf)).toEqual(['Services 10.96.0.0/12 kubeadm-config']);
  });

  it('a deleted kubeadm-config is no source any more', async () => {
    cluster.objects = { [config]: usual };
    const facts = cluster.facts();
    await facts.begin(signal);
    cluster.objects = {};
    await facts.begin(signal);
    expect(facts.current().networks).toEqual([]);
  });
});

const servicesStored: ClusterNetwork = {
  cidr: '10.96.0.0/12',
  use: 'Services',
  source: 'ServiceCIDR',
};
const podsStored: ClusterNetwork = { cidr: '10.7.0.0/24', use: 'Pods', source: 'Node podCIDRs' };

/** Runs facts, waits for a publication after `ms`, and stops the run. */
async function publishedAfter(facts: ReturnType<ClusterObjects['facts']>, ms: number) {
  const stop = new AbortController();
  const run = facts.run(stop.signal);
  for (let passedMs = 0; passedMs <= ms; passedMs += 1_000) await cluster.clock.advance(1_000);
  stop.abort(new Error('stopped'));
  await run.catch((error: unknown) => {
    if (error !== stop.signal.reason) throw error;
  });
  return cluster.stored?.map(textOf);
}

describe('published networks after a restart', () => {
  it.each<[string, object]>([
    ['are broken', broken],
    ['are forbidden', forbidden],
  ])('published networks stay in force while their sources %s', async (_, failure) => {
    cluster.objects = { [v1]: failure, [config]: failure, [services]: failure };
    const podsOfSetting = { ...podsStored, source: 'controller.podNetworks' };
    cluster.stored = [servicesStored, podsOfSetting];
    expect(await read()).toEqual(['Services 10.96.0.0/12 ServiceCIDR']);
  });

  it('published networks of Pods stay in force until the Node watch has listed', async () => {
    cluster.stored = [podsStored];
    const { promise, resolve } = Promise.withResolvers<void>();
    const nodes = { podCidrs: () => ['10.8.0.0/24'], listed: async () => promise };
    const facts = cluster.facts({ nodes });
    await facts.begin(signal);
    expect(facts.current().networks.map(textOf)).toEqual(['Pods 10.7.0.0/24 Node podCIDRs']);
    expect(await publishedAfter(facts, 90_000)).toEqual(['Pods 10.7.0.0/24 Node podCIDRs']);
    resolve();
    expect(await publishedAfter(facts, 1_000)).toEqual(['Pods 10.8.0.0/24 Node podCIDRs']);
    expect(facts.current().networks.map(textOf)).toEqual(['Pods 10.8.0.0/24 Node podCIDRs']);
    expect(cluster.warnings).toEqual([]);
  });

  it('a start without answers for 10 s uses settings and published networks', async () => {
    cluster.stored = [servicesStored];
    const facts = cluster.facts({
      podNetworks: ['10.2.0.0/16'],
      client: {
        find: async () => new Promise(() => undefined),
        list: async () => new Promise(() => undefined),
        listAll: async () => new Promise(() => undefined),
      } as unknown as ClusterFactsOptions['client'],
    });
    const begun = facts.begin(signal);
    await cluster.clock.advance(10_000);
    await begun;
    expect(facts.current().networks.map(textOf)).toEqual([
      'Services 10.96.0.0/12 ServiceCIDR',
      'Pods 10.2.0.0/16 controller.podNetworks',
    ]);
    expect(cluster.warnings).toEqual([expect.stringContaining('no answer within 10 s')]);
  });

  it('networks are not published while the published networks are unreadable', async () => {
    cluster.objects = { [v1]: [serviceCidr('10.9.0.0/16')] };
    const written: string[] = [];
    let isReadable = false;
    const facts = cluster.facts({
      published: {
        read: async () => (isReadable ? Promise.resolve([podsStored]) : Promise.reject(broken)),
        write: async (networks) => {
          written.push(...networks.map(textOf));
          return Promise.resolve();
        },
      },
    });
    await facts.begin(signal);
    await publishedAfter(facts, 5_000);
    expect(written).toEqual([]);
    expect(cluster.warnings).toEqual([
      'ConfigMap multinic-cluster-networks: etcd is away; Viola and multinic plan may have outdated networks of the cluster; the controller tries again',
    ]);
    isReadable = true;
    await publishedAfter(facts, 5_000);
    expect(written).toEqual(['Services 10.9.0.0/16 ServiceCIDR']);
  });
});

it('the networks have at most 64 prefixes from 600 addresses, with both uses', async () => {
  const many = Array.from({ length: 300 }, (_, n) => `10.96.${scattered(n, 3)}.${n % 251}`);
  cluster.objects = { [services]: many.map((ip) => service(ip)) };
  const networks = await read({ nodes: nodesWith(manyPodCidrs) });
  expect(networks.length).toBeLessThanOrEqual(64);
  const byUse = Map.groupBy(networks, (text) => text.split(' ')[0]);
  expect([...byUse.keys()]).toEqual(['Services', 'Pods']);
});
