import {
  type ClusterNetwork,
  clusterNetworksName,
  publishedIn,
} from '../../api/cluster-networks.ts';
import { namespaces } from '../../api/names.ts';
import { accessTexts } from '../../api/texts/access.ts';
import { kubeadmConfig, readKubeadmConfig } from '../../controller/networks/kubeadm-config.ts';
import { networksIn, UnreadableSource } from '../../controller/networks/network-text.ts';
import { serviceCidrsOf } from '../../controller/networks/service-cidr.ts';
import type { Fact } from '../../explain/fact.ts';
import { same } from '../../explain/wording.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { configMaps } from '../../kube/core-resources.ts';
import { KubeError } from '../../kube/errors.ts';
import { grantConfigMap } from '../access/grants.ts';
import type { Session } from '../access/session.ts';
import { flagsTo } from '../access/sources.ts';
import { Unread } from '../access/unread.ts';
import { aboutBusiness } from './business-facts.ts';
import { factOf } from './unread.ts';

/** Reads the networks published by the controller; earlier controllers publish none: then ServiceCIDR and kubeadm-config count. */
export function readClusterNetworks(
  session: Session,
  provider: string,
): Promise<Fact<ClusterNetwork[]>> {
  const what = accessTexts.clusterNetworks;
  const flags = flagsTo(session.options, provider);
  const about = {
    ...aboutBusiness(session, what, provider),
    grant: grantConfigMap(flags, configMapIn),
  };
  return factOf(session, about, async () => {
    const client = await session.client(provider);
    const { signal } = session;
    const ref = { namespace: namespaces.system, name: clusterNetworksName };
    const published = publishedIn((await client.find(configMaps, ref, { signal }))?.data);
    if (published) return published;
    try {
      return await networksOfKubernetes(client, signal);
    } catch (error) {
      if (!(error instanceof UnreadableSource)) throw error;
      const { namespace, name } = kubeadmConfig;
      const command = `kubectl ${flags} get cm ${name} -n ${namespace} -o yaml`;
      throw new Unread(same(`${name}: ${error.message}`), same(command));
    }
  });
}

function configMapIn(namespace: string): string {
  return namespace === kubeadmConfig.namespace ? kubeadmConfig.name : clusterNetworksName;
}

async function networksOfKubernetes(
  client: KubeClient,
  signal: AbortSignal,
): Promise<ClusterNetwork[]> {
  const [cidrs, kubeadm] = await Promise.all([
    readableCidrs(client, signal),
    readKubeadmConfig(client, signal),
  ]);
  const fromKubeadm = (use: ClusterNetwork['use']) =>
    (kubeadm[use] ?? []).map((cidr) => ({ cidr, use, source: kubeadmConfig.name }));
  const services = networksIn('spec.cidrs', cidrs).map((cidr) => ({
    cidr,
    use: 'Services' as const,
    source: 'ServiceCIDR',
  }));
  return [...(services.length > 0 ? services : fromKubeadm('Services')), ...fromKubeadm('Pods')];
}

/** Returns no networks without the right: role `view` may lack ServiceCIDRs. */
async function readableCidrs(client: KubeClient, signal: AbortSignal) {
  try {
    return await serviceCidrsOf(client, signal);
  } catch (error) {
    if (error instanceof KubeError && error.status === 403) return [];
    throw error;
  }
}
