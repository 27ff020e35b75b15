import { labels } from '../../../api/names.ts';
import type { Job } from '../../../kube/core-resources.ts';
import type { Draft } from '../../../kube/object.ts';
import type { DatabaseWanted } from '../../model/accepted.ts';
import { backupApp, workContainer } from '../../model/mariadb/names.ts';
import type { Observed } from '../../model/stage.ts';
import { pullSecretsOf } from '../database/pull-secrets.ts';
import {
  containerResources,
  restrictedContainer,
  restrictedPod,
  temporaryMount,
} from '../database/restricted-pod.ts';

export type JobSpec = NonNullable<Draft<Job>['spec']>;

type PodSpec = NonNullable<NonNullable<JobSpec['template']>['spec']>;
type Container = NonNullable<PodSpec['containers']>[number];

/** What differs between Jobs. */
export interface WorkJob {
  readonly container: Pick<Container, 'image' | 'command' | 'env' | 'volumeMounts'>;
  readonly resources: DatabaseWanted['resources'];
  readonly deadlineSeconds: number;
  readonly volumes?: PodSpec['volumes'];
  readonly affinity?: PodSpec['affinity'];
}

/** Returns labels for Jobs and their Pods. Without the protected label: users may delete a run. */
export function workLabels({ operator }: Observed): Record<string, string> {
  return { app: backupApp, [labels.managedByOperator]: operator.metadata.name };
}

/** Returns a Job spec without retries: a second try would hide the first failure's reason. */
export function workJobSpec(observed: Observed, job: WorkJob): JobSpec {
  const { container, resources, deadlineSeconds, volumes = [], affinity } = job;
  return {
    backoffLimit: 0,
    activeDeadlineSeconds: deadlineSeconds,
    template: {
      metadata: { labels: workLabels(observed) },
      spec: {
        ...restrictedPod,
        ...pullSecretsOf(observed),
        ...(affinity ? { affinity } : {}),
        restartPolicy: 'Never',
        containers: [
          {
            ...restrictedContainer,
            ...container,
            name: workContainer,
            resources: containerResources(resources),
            volumeMounts: [temporaryMount, ...(container.volumeMounts ?? [])],
          },
        ],
        volumes: [{ name: temporaryMount.name, emptyDir: {} }, ...volumes],
      },
    },
  };
}
