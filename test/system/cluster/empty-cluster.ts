import type { ControlPlane } from '../../../rig/control-plane/control-plane.ts';

const ownNamespaces = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];
/** Cluster-scoped kinds that tests create, each with a filter that excludes the API server's own objects. */
const kinds = [
  ['customresourcedefinitions', '--all'],
  ['validatingwebhookconfigurations', '--all'],
  ['namespaces', `--selector=kubernetes.io/metadata.name notin (${ownNamespaces.join(',')})`],
  ['clusterroles,clusterrolebindings', '--selector=!kubernetes.io/bootstrapping'],
] as const;

/** Deletes the tests' objects and waits for their deletion; objects in `default` stay. */
export async function emptyCluster(plane: Pick<ControlPlane, 'kubectl'>): Promise<void> {
  for (const [kind, which] of kinds) {
    await plane.kubectl(['delete', kind, which, '--timeout=5m']);
  }
  const all = ['get', 'priorityclasses', '-o', 'jsonpath={.items[*].metadata.name}'];
  const names = (await plane.kubectl(all)).split(' ').filter((name) => !name.startsWith('system-'));
  if (names.join('') !== '') await plane.kubectl(['delete', 'priorityclasses', ...names]);
}
