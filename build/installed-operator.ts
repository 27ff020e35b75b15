import { namespaces } from '../src/api/names.ts';
import type { KubeClient } from '../src/kube/client/client.ts';
import { namespaces as namespaceKind } from '../src/kube/core-resources.ts';

/** Where the chart installs the operator (charts/multinic-operator, docs/guides/install.md). */
const installedIn = 'multinic-operator-system';

/**
 * The namespace for the lease of an operator that runs beside the cluster: that of an installed one, if there may be one, as of
 * two operators with one lease one works.
 */
export async function namespaceOfLease(client: Pick<KubeClient, 'find'>): Promise<string> {
  const home = await client.find(namespaceKind, { name: installedIn });
  return home ? installedIn : namespaces.system;
}
