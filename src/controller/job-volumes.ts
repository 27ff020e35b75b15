import { type HostMount, jobFiles } from '../api/job.ts';
import type { Pod } from '../kube/core-resources.ts';

type PodSpec = NonNullable<Pod['spec']>;
type Volume = NonNullable<PodSpec['volumes']>[number];
type Mount = NonNullable<PodSpec['containers'][number]['volumeMounts']>[number];

/** Volumes and mounts of an agent Pod whose request is in the ConfigMap of this name. */
export function agentVolumes(
  configMap: string,
  hostMounts: readonly HostMount[],
): { volumes: Volume[]; mounts: Mount[] } {
  const request: Volume = { name: 'request', configMap: { name: configMap } };
  const requestMount: Mount = {
    name: 'request',
    mountPath: jobFiles.requestDirectory,
    readOnly: true,
  };
  return {
    volumes: [
      request,
      ...hostMounts.map(({ name, path, type }): Volume => ({ name, hostPath: { path, type } })),
    ],
    mounts: [
      requestMount,
      ...hostMounts.map(
        ({ name, path, readOnly }): Mount => ({
          name,
          mountPath: `${jobFiles.hostRoot}${path}`,
          readOnly,
        }),
      ),
    ],
  };
}
