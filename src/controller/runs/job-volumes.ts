import { jobFiles } from '../../api/job.ts';
import type { Pod } from '../../kube/core-resources.ts';

type PodSpec = NonNullable<Pod['spec']>;
type Volume = NonNullable<PodSpec['volumes']>[number];
type Mount = NonNullable<PodSpec['containers'][number]['volumeMounts']>[number];

/**
 * What the agent sees of the host: its files of NICs, its journal, and the sysctls of the network, which are writable
 * through a hostPath with NET_ADMIN alone while the container's own /proc/sys is read-only.
 */
const hostFolders = [
  { name: 'netplan', path: '/etc/netplan', type: 'Directory' },
  { name: 'sysctl-d', path: '/etc/sysctl.d', type: 'Directory' },
  { name: 'proc-sys-net', path: '/proc/sys/net', type: 'Directory' },
  // Ours alone, so that it may be made; the others say which kind of host this is.
  { name: 'state', path: '/var/lib/multinic', type: 'DirectoryOrCreate' },
] as const;

/** Volumes and mounts of an agent Pod whose request is in the ConfigMap of this name. */
export function agentVolumes(configMap: string): { volumes: Volume[]; mounts: Mount[] } {
  const request: Volume = { name: 'request', configMap: { name: configMap } };
  const requestMount: Mount = {
    name: 'request',
    mountPath: jobFiles.requestDirectory,
    readOnly: true,
  };
  return {
    volumes: [
      request,
      ...hostFolders.map(({ name, path, type }): Volume => ({ name, hostPath: { path, type } })),
    ],
    mounts: [
      requestMount,
      ...hostFolders.map(
        ({ name, path }): Mount => ({ name, mountPath: `${jobFiles.hostRoot}${path}` }),
      ),
    ],
  };
}
