import { join } from 'node:path';
import type { Ports } from './ports.ts';
import { provider } from './world.ts';

/** Commands to look around in the running demo; `directory` has the kubeconfigs of both clusters. */
export function commandsOf(directory: string, { inventory }: Ports): readonly string[] {
  const kubeconfigOf = (cluster: 'management' | 'business') =>
    join(directory, `${cluster}.kubeconfig`);
  const kubectl = (cluster: 'management' | 'business', rest: string) =>
    `kubectl --kubeconfig ${kubeconfigOf(cluster)} ${rest}`;
  const access = [
    `--inventory http://127.0.0.1:${inventory}`,
    `--kubeconfig ${kubeconfigOf('management')}`,
    `--business-kubeconfig ${provider}=${kubeconfigOf('business')}`,
  ].join(' ');
  return [
    `bin/multinic status ${access}`,
    `bin/multinic why worker-1/multinic0 ${access}`,
    kubectl('management', '-n multinic-system get openstackconfigs -o wide'),
    kubectl('management', 'explain openstackconfigs.spec'),
    kubectl('business', '-n multinic-system get multinicnodeconfigs'),
    kubectl('business', '-n multinic-system describe multinicnodeconfig worker-1'),
    kubectl('business', '-n multinic-agents get jobs'),
  ];
}
