import type { ClusterNetwork } from '../../api/cluster-networks.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { Guarded } from './guarded-reads.ts';
import { kubeadmConfig, readKubeadmConfig } from './kubeadm-config.ts';
import { networksIn, usableNetworks } from './network-text.ts';
import { readServices } from './service-addresses.ts';
import { serviceCidrsOf } from './service-cidr.ts';

export type NetworkUse = ClusterNetwork['use'];

/** Networks by use; a missing use: the source does not name any. */
export type NetworksByUse = Partial<Record<NetworkUse, readonly string[]>>;

/** Setting or object with networks; the name is also in the ConfigMap. */
export interface NetworkSource extends Guarded {
  readonly uses: readonly NetworkUse[];
  /** Returns an empty object if the cluster has no such object; throws UnreadableSource for malformed content. */
  read(signal: AbortSignal): Promise<NetworksByUse>;
}

/** Error: the Node watch has not listed yet. */
export class NodesUnlisted extends Error {
  override readonly name = 'NodesUnlisted';
}

export interface SourcesOptions {
  readonly client: Pick<KubeClient, 'find' | 'list' | 'listAll'>;
  /** Networks in the settings; empty: none. */
  readonly serviceCIDRs: readonly string[];
  readonly podNetworks: readonly string[];
}

/** Names for the two settings, as in chart values. */
export const settingNames = { Services: 'controller.serviceCIDRs', Pods: 'controller.podNetworks' };
export const nodesName = 'Node podCIDRs';

const servicesInstead = `set ${settingNames.Services}`;
const servicesLack = 'networks of Services are not readable there';

/**
 * Returns the sources in their order; the first answer for each use counts. `readNodes` returns podCIDRs, or throws
 * NodesUnlisted.
 */
export function networkSources(
  { client, serviceCIDRs, podNetworks }: SourcesOptions,
  readNodes: () => readonly string[],
): readonly NetworkSource[] {
  return [
    settingSource('Services', serviceCIDRs),
    settingSource('Pods', podNetworks),
    {
      name: 'ServiceCIDR',
      uses: ['Services'],
      right: 'list servicecidrs.networking.k8s.io',
      lack: servicesLack,
      instead: servicesInstead,
      read: async (signal) => ({
        Services: networksIn('spec.cidrs', await serviceCidrsOf(client, signal)),
      }),
    },
    {
      name: kubeadmConfig.name,
      uses: ['Services', 'Pods'],
      right: `get configmaps "${kubeadmConfig.name}" in ${kubeadmConfig.namespace}`,
      lack: 'networks of Services and Pods are not readable there',
      instead: `set ${settingNames.Services} and ${settingNames.Pods}`,
      read: async (signal) => readKubeadmConfig(client, signal),
    },
    {
      name: 'Services',
      uses: ['Services'],
      right: 'list services in all namespaces',
      lack: servicesLack,
      instead: servicesInstead,
      read: async (signal) => ({ Services: await readServices(client, signal) }),
    },
    {
      name: nodesName,
      uses: ['Pods'],
      lack: 'networks of Pods are not readable there',
      read: async () => Promise.resolve({ Pods: usableNetworks(readNodes()) }),
    },
  ];
}

function settingSource(use: NetworkUse, networks: readonly string[]): NetworkSource {
  const lack = `networks of ${use} are not set`;
  const read = async () => Promise.resolve({ [use]: networks });
  return { name: settingNames[use], uses: [use], lack, read };
}
