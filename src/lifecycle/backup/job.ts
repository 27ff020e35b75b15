import { labels, managedObjects } from '../../api/names.ts';
import type { Job } from '../../kube/core-resources.ts';
import type { Draft } from '../../kube/object.ts';
import type { DatabaseWanted } from '../accept/accepted.ts';
import { pullSecretsOf } from '../database/pull-secrets.ts';
import {
  containerResources,
  loginMount,
  restrictedContainer,
  restrictedPod,
  temporaryMount,
} from '../database/restricted-pod.ts';
import { loginSource } from '../database/stateful-set.ts';
import type { Observed } from '../stage.ts';
import { backupApp, deadlineSeconds, workContainer } from './names.ts';
import { backupScript } from './script.ts';

/** Task of the backup script. */
export type Task =
  | { readonly task: 'backup'; readonly suffix: '' | '-before-upgrade' }
  | { readonly task: 'restore'; readonly file: string };

export interface WorkOptions {
  readonly work: Task;
  /** Image of the running server, whose clients read its dumps. */
  readonly image: string;
  /** Number of retained files per kind. */
  readonly retention: number;
}

type JobSpec = NonNullable<Draft<Job>['spec']>;

/** Returns labels for Jobs and their Pods. Without the protected label: users may delete a run. */
export function workLabels({ operator }: Observed): Record<string, string> {
  return { app: backupApp, [labels.managedByOperator]: operator.metadata.name };
}

/** Returns a Job spec without retries: a second try would hide the first failure's reason. */
export function jobSpecOf(
  observed: Observed,
  { service, resources }: DatabaseWanted,
  { work, image, retention }: WorkOptions,
): JobSpec {
  const environment = {
    TASK: work.task,
    HOST: managedObjects.database,
    PORT: String(service.port),
    RETENTION: String(retention),
    SUFFIX: work.task === 'backup' ? work.suffix : '',
    FILE: work.task === 'restore' ? work.file : '',
  };
  const database = { name: managedObjects.credentials, key: 'database' };
  return {
    backoffLimit: 0,
    activeDeadlineSeconds: deadlineSeconds,
    template: {
      metadata: { labels: workLabels(observed) },
      spec: {
        ...restrictedPod,
        ...pullSecretsOf(observed),
        restartPolicy: 'Never',
        containers: [
          {
            ...restrictedContainer,
            name: workContainer,
            image,
            command: ['sh', '-c', backupScript],
            env: [
              ...Object.entries(environment).map(([name, value]) => ({ name, value })),
              { name: 'DATABASE', valueFrom: { secretKeyRef: database } },
            ],
            resources: containerResources(resources),
            volumeMounts: [
              { name: 'backup', mountPath: '/backup' },
              { name: 'scratch', mountPath: '/scratch' },
              temporaryMount,
              loginMount,
            ],
          },
        ],
        volumes: [
          { name: 'backup', persistentVolumeClaim: { claimName: managedObjects.backup } },
          { name: 'scratch', emptyDir: {} },
          { name: temporaryMount.name, emptyDir: {} },
          loginSource(['client.cnf']),
        ],
      },
    },
  };
}
