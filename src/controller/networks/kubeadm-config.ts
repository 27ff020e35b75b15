import { parseAllDocuments } from 'yaml';
import * as z from 'zod';
import type { KubeClient } from '../../kube/client/client.ts';
import { configMaps } from '../../kube/core-resources.ts';
import { networksIn, UnreadableSource } from './network-text.ts';

interface KubeadmNetworks {
  readonly Services?: readonly string[];
  readonly Pods?: readonly string[];
}

/** ConfigMap written by kubeadm at `init` and at each upgrade. */
export const kubeadmConfig = { namespace: 'kube-system', name: 'kubeadm-config' } as const;

/** Networks in kubeadm's `ClusterConfiguration`; each is a list separated by commas. */
const clusterConfiguration = z.object({
  networking: z
    .object({ serviceSubnet: z.string().optional(), podSubnet: z.string().optional() })
    .nullish(),
});

/** Returns kubeadm's networks; empty: no ConfigMap. Throws UnreadableSource. */
export async function readKubeadmConfig(
  client: Pick<KubeClient, 'find'>,
  signal: AbortSignal,
): Promise<KubeadmNetworks> {
  const found = await client.find(configMaps, kubeadmConfig, { signal });
  const text = found?.data?.['ClusterConfiguration'];
  return text === undefined ? {} : networksInKubeadm(text);
}

/** Returns the networks in kubeadm's YAML; aliases are refused. */
function networksInKubeadm(text: string): KubeadmNetworks {
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
