import { jobFiles, type PodRights } from '../../api/job.ts';
import type { Job } from '../../kube/core-resources.ts';

type Pod = NonNullable<NonNullable<Job['spec']>['template']['spec']>;
type Container = Pod['containers'][number];

/** Returns the host access a Job gives its Pod, for the agent's comparison with its actual access. */
export function rightsOf({ metadata, spec }: Job): PodRights {
  const pod = spec?.template.spec;
  const [agent] = pod?.containers ?? [];
  if (!pod || !agent) throw new Error(`Job ${metadata.name} has no container`);
  return { ...selfIn(agent), hostNetwork: pod.hostNetwork ?? false, mounts: mountsIn(agent) };
}

function selfIn({ securityContext = {} }: Container): Pick<PodRights, 'user' | 'capabilities'> {
  const { runAsUser: user = 0, capabilities } = securityContext;
  return { user, capabilities: capabilities?.add ?? [] };
}

function mountsIn({ volumeMounts = [] }: Container): PodRights['mounts'] {
  return volumeMounts
    .filter(({ mountPath }) => mountPath.startsWith(`${jobFiles.hostRoot}/`))
    .map(({ mountPath, readOnly }) => ({
      path: mountPath.slice(jobFiles.hostRoot.length),
      writable: !readOnly,
    }));
}
