import { namespaces } from '../src/api/names.ts';
import type { KubeClient } from '../src/kube/client/client.ts';
import { namespaces as namespaceKind } from '../src/kube/core-resources.ts';

/** Where the chart installs the operator (charts/multinic-operator, docs/guides/install.md). */
const installedIn = 'multinic-operator-system';

/**
 * Namespace for the lease of an operator outside the cluster: the namespace of an installed operator, if an operator may be installed. With
 * a shared lease only a single operator works.
 */
export async function namespaceOfLease(client: Pick<KubeClient, 'find'>): Promise<string> {
  const home = await client.find(namespaceKind, { name: installedIn });
  return home ? installedIn : namespaces.system;
}
