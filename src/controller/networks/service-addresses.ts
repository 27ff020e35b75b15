import { hostPrefix } from '../../api/address.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { pagesOf } from '../../kube/client/pages.ts';
import { type Service, services } from '../../kube/core-resources.ts';
import { networksIn } from './network-text.ts';

/** Returns the addresses of all Services as host prefixes. Reads page by page: a large cluster has thousands. */
export async function readServices(
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
