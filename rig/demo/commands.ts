import { join } from 'node:path';

/** Commands to look around in the running demo; `directory` has the kubeconfigs of both clusters. */
export function commandsOf(directory: string): readonly string[] {
  const kubectl = (cluster: 'management' | 'business', rest: string) =>
    `kubectl --kubeconfig ${join(directory, `${cluster}.kubeconfig`)} ${rest}`;
  return [
    kubectl('management', '-n multinic-system get openstackconfigs -o wide'),
    kubectl('management', 'explain openstackconfigs.spec'),
    kubectl('business', '-n multinic-system get multinicnodeconfigs'),
    kubectl('business', '-n multinic-system describe multinicnodeconfig worker-1'),
    kubectl('business', '-n multinic-agents get jobs'),
  ];
}
