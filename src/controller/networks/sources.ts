import { parseAllDocuments } from 'yaml';
import * as z from 'zod';
import { hostPrefix, networkOf, plainForm } from '../../api/address.ts';
import type { ClusterNetwork } from '../../api/cluster-networks.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { pagesOf } from '../../kube/client/pages.ts';
import { configMaps, type Service, services } from '../../kube/core-resources.ts';
import { serviceCidrsOf } from './service-cidr.ts';

export type NetworkUse = ClusterNetwork['use'];

/** Networks by use; a missing use: the source does not name any. */
export type NetworksByUse = Partial<Record<NetworkUse, readonly string[]>>;

/** Setting or object with networks. */
export interface NetworkSource {
  /** Name in messages and in the ConfigMap. */
  readonly name: string;
  readonly uses: readonly NetworkUse[];
  /** Right in words, for a warning; undefined: the source needs no optional right. */
  readonly right?: string;
  /** Returns an empty object if the cluster has no such object; throws UnreadableSource for malformed content. */
  read(signal: AbortSignal): Promise<NetworksByUse>;
}

/** Error: a source's content is not a list of networks. */
export class UnreadableSource extends Error {
  override readonly name = 'UnreadableSource';
}

export interface SourcesOptions {
  readonly client: Pick<KubeClient, 'find' | 'list' | 'listAll'>;
  /** Networks in the settings; empty: none. */
  readonly serviceCIDRs: readonly string[];
  readonly podNetworks: readonly string[];
}

/** Names for the two settings, as in chart values. */
export const settingNames = { Services: 'controller.serviceCIDRs', Pods: 'controller.podNetworks' };
/** Returns the sources in their order; the first answer for each use counts, and for Pods the Nodes come last. */
export function networkSources(options: SourcesOptions): readonly NetworkSource[] {
  const { client, serviceCIDRs, podNetworks } = options;
  return [
    {
      name: settingNames.Services,
      uses: ['Services'],
      read: async () => Promise.resolve({ Services: serviceCIDRs }),
    },
    {
      name: settingNames.Pods,
      uses: ['Pods'],
      read: async () => Promise.resolve({ Pods: podNetworks }),
    },
    {
      name: 'ServiceCIDR',
      uses: ['Services'],
      right: 'list servicecidrs.networking.k8s.io',
      read: async (signal) => ({
        Services: networksIn('spec.cidrs', await serviceCidrsOf(client, signal)),
      }),
    },
    {
      name: kubeadmConfig.name,
      uses: ['Services', 'Pods'],
      right: `get configmaps "${kubeadmConfig.name}" in ${kubeadmConfig.namespace}`,
      read: async (signal) => readKubeadmConfig(client, signal),
    },
    {
      name: 'Services',
      uses: ['Services'],
      right: 'list services in all namespaces',
      read: async (signal) => ({ Services: await readServices(client, signal) }),
    },
  ];
}

const cidr = z.union([z.cidrv4(), z.cidrv6().transform(plainForm)]);

/** Returns the networks without host bits; throws UnreadableSource for other text. */
function networksIn(field: string, texts: readonly string[]): readonly string[] {
  return texts.map((text) => {
    const read = cidr.safeParse(text.trim());
    if (read.success) return networkOf(read.data);
    throw new UnreadableSource(`${field}: "${text.slice(0, 64)}" is not a network`);
  });
}

/** Returns the networks among these texts. */
export function usableNetworks(texts: readonly string[]): readonly string[] {
  return texts.flatMap((text) => {
    const read = cidr.safeParse(text);
    return read.success ? networkOf(read.data) : [];
  });
}

/** ConfigMap written by kubeadm at `init` and at each upgrade. */
export const kubeadmConfig = { namespace: 'kube-system', name: 'kubeadm-config' } as const;

/** Networks in kubeadm's `ClusterConfiguration`; each is a list separated by commas. */
const clusterConfiguration = z.object({
  networking: z
    .object({ serviceSubnet: z.string().optional(), podSubnet: z.string().optional() })
    .nullish(),
});

async function readKubeadmConfig(
  client: Pick<KubeClient, 'find'>,
  signal: AbortSignal,
): Promise<NetworksByUse> {
  const found = await client.find(configMaps, kubeadmConfig, { signal });
  const text = found?.data?.['ClusterConfiguration'];
  return text === undefined ? {} : networksInKubeadm(text);
}

/** Returns the networks in kubeadm's YAML; aliases are refused. */
function networksInKubeadm(text: string): NetworksByUse {
  const read = clusterConfiguration.safeParse(yamlIn(text));
  if (!read.success) throw new UnreadableSource(z.prettifyError(read.error).split('\n')[0]);
  const { serviceSubnet = '', podSubnet = '' } = read.data.networking ?? {};
  return {
    Services: networksIn('networking.serviceSubnet', listIn(serviceSubnet)),
    Pods: networksIn('networking.podSubnet', listIn(podSubnet)),
  };
}

function yamlIn(text: string): unknown {
  const [document] = parseAllDocuments(text);
  if (!document || !('toJS' in document)) throw new UnreadableSource('the YAML is empty');
  const [error] = document.errors;
  if (error) throw new UnreadableSource(error.message.split('\n')[0]);
  try {
    return document.toJS({ maxAliasCount: 0 });
  } catch (failure) {
    throw new UnreadableSource((failure as Error).message, { cause: failure });
  }
}

function listIn(text: string): readonly string[] {
  return text.split(',').flatMap((each) => each.trim() || []);
}

/** Reads page by page and stores addresses only: a large cluster has thousands. */
async function readServices(
  client: Pick<KubeClient, 'list'>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const addresses: string[] = [];
  for await (const { items } of pagesOf(client, services, { signal })) {
    addresses.push(...items.flatMap(clusterIpsOf));
  }
  return networksIn('spec.clusterIPs', addresses);
}

/** Returns a Service's addresses as host prefixes; a headless Service has none. */
function clusterIpsOf({ spec }: Service): readonly string[] {
  const { clusterIP = '', clusterIPs = [clusterIP] } = spec ?? {};
  return clusterIPs
    .filter((ip) => ip !== '' && ip !== 'None')
    .map((ip) => `${ip}/${hostPrefix(ip.includes(':') ? 6 : 4)}`);
}
