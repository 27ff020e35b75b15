import * as z from 'zod';
import { covers, networkOf, overlaps, plainForm } from './address.ts';
import { jsonIn } from './json.ts';

/** Maximum networks in a request and in the ConfigMap. */
export const maxClusterNetworks = 64;

/** ConfigMap beside the node configs, written by the controller and read by Viola. */
export const clusterNetworksName = 'multinic-cluster-networks';
/** Key in the ConfigMap; the value is a JSON array of `clusterNetwork`. */
export const clusterNetworksKey = 'networks.json';

/** Network that the business cluster uses for Services or Pods; no NIC may reach it. */
export const clusterNetwork = z.object({
  cidr: z.union([z.cidrv4(), z.cidrv6().transform(plainForm)]).describe('Network in CIDR form.'),
  use: z.enum(['Services', 'Pods']).describe('What the cluster uses the network for.'),
  source: z.string().max(64).describe('Where the controller read the network.'),
});

/** The same network in an HTTP answer, whose schema has no conversions. */
export const shownClusterNetwork = clusterNetwork.extend({
  cidr: z.string().describe('Network in CIDR form.'),
});

export type ClusterNetwork = z.infer<typeof clusterNetwork>;

const publishedList = z.array(clusterNetwork).max(maxClusterNetworks);

/** Returns the networks in the ConfigMap's data; undefined: no ConfigMap, or unreadable content. */
export function publishedIn(
  data: Readonly<Record<string, string>> | undefined,
): ClusterNetwork[] | undefined {
  return publishedList.safeParse(jsonIn(data?.[clusterNetworksKey] ?? '')).data;
}

/** Network reached by a NIC, and the cluster's network that the NIC must not reach. */
export interface ClusterOverlap {
  readonly reached: string;
  readonly network: ClusterNetwork;
}

/**
 * Returns the first network of the cluster that the NIC would reach: the only rule for operator and agent. Networks
 * that the NIC reaches already are no reason.
 */
export function clusterOverlap(
  reached: readonly string[],
  before: readonly string[],
  networks: readonly ClusterNetwork[],
): ClusterOverlap | undefined {
  const added = reached.filter((cidr) => !before.some((wide) => covers(wide, cidr)));
  for (const network of networks) {
    const found = added.find((cidr) => overlaps(cidr, network.cidr));
    if (found !== undefined) return { reached: found, network };
  }
  return undefined;
}

/** Returns the network with its use and source, for messages. */
export function clusterNetworkText({ cidr, use, source }: ClusterNetwork): string {
  return `${networkOf(cidr)} (${use}, from ${source})`;
}
