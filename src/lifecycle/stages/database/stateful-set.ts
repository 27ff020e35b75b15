import { managedObjects } from '../../../api/names.ts';
import type { StatefulSet } from '../../../kube/core-resources.ts';
import type { Draft } from '../../../kube/object.ts';
import type { DatabaseWanted } from '../../model/accepted.ts';
import { managedLabels, ownedBy } from '../../model/desired.ts';
import { revisionAnnotation } from '../../model/mariadb/credentials-revision.ts';
import { graceSeconds, prepareContainer } from '../../model/mariadb/names.ts';
import type { Observed } from '../../model/stage.ts';
import { prepareData } from './prepare-data.ts';
import { pullSecretsOf } from './pull-secrets.ts';
import {
  containerResources,
  loginMount,
  loginPaths,
  loginVolume,
  restrictedContainer,
  restrictedPod,
  temporaryMount,
} from './restricted-pod.ts';

export const selector = { app: managedObjects.database };

const dataMount = { name: 'mysql-storage', mountPath: '/var/lib/mysql' } as const;
const socketMount = { name: 'socket', mountPath: '/run/mysqld' } as const;

/** No option files: the image's own files must not override this configuration. */
export const server = [
  'mariadbd',
  '--no-defaults',
  `--datadir=${dataMount.mountPath}`,
  '--ignore-db-dirs=lost+found',
  '--socket=/run/mysqld/mysqld.sock',
  '--pid-file=/run/mysqld/mysqld.pid',
  '--tmpdir=/tmp',
  '--port=3306',
  '--bind-address=*',
  '--skip-name-resolve',
  '--skip-log-bin',
  '--character-set-server=utf8mb4',
  '--innodb-buffer-pool-size=64M',
  `--init-file=${loginPaths.initFile}`,
];

/** TCP, because `localhost` may match a different account. */
const login = [`--defaults-file=${loginPaths.clientOptions}`, '--protocol=tcp', '--host=127.0.0.1'];

/** Probes log in, because the server logs each refused login. A ping succeeds with any password, a query does not. */
const ping = { exec: { command: ['mariadb-admin', ...login, 'ping'] }, timeoutSeconds: 5 };
export const query = ['mariadb', ...login, '--execute=SELECT 1'];

export interface StatefulSetOptions {
  /** May differ from the desired image: a backup precedes a change. */
  readonly image: string;
  readonly revision: string;
}

/** Returns StatefulSet mariadb: one replica with a separately managed claim. */
export function statefulSetOf(
  observed: Observed,
  { resources }: DatabaseWanted,
  { image, revision }: StatefulSetOptions,
): Draft<StatefulSet> {
  const { operator, namespace } = observed;
  const labels = { ...managedLabels(operator), ...selector };
  const container = { ...restrictedContainer, image, resources: containerResources(resources) };
  return {
    metadata: {
      name: managedObjects.database,
      namespace,
      labels: { ...labels, component: 'database' },
      ownerReferences: [ownedBy(operator)],
    },
    spec: {
      replicas: 1,
      serviceName: managedObjects.database,
      selector: { matchLabels: selector },
      // With OrderedReady a Pod that never becomes ready is not replaced by a corrected template (kubernetes#67250).
      podManagementPolicy: 'Parallel',
      updateStrategy: { type: 'RollingUpdate' },
      template: {
        metadata: { labels, annotations: { [revisionAnnotation]: revision } },
        spec: {
          ...restrictedPod,
          ...pullSecretsOf(observed),
          terminationGracePeriodSeconds: graceSeconds,
          initContainers: [
            {
              ...container,
              name: prepareContainer,
              command: ['sh', '-c', prepareData],
              volumeMounts: [dataMount, socketMount, temporaryMount],
            },
          ],
          containers: [
            {
              ...container,
              name: managedObjects.database,
              command: server,
              ports: [{ name: 'mysql', containerPort: 3306, protocol: 'TCP' }],
              volumeMounts: [dataMount, socketMount, temporaryMount, loginMount],
              // Ten minutes for crash recovery.
              startupProbe: { ...ping, periodSeconds: 2, failureThreshold: 300 },
              livenessProbe: { ...ping, periodSeconds: 10, failureThreshold: 6 },
              readinessProbe: {
                exec: { command: query },
                periodSeconds: 5,
                timeoutSeconds: 5,
                failureThreshold: 3,
              },
            },
          ],
          volumes: [
            {
              name: dataMount.name,
              persistentVolumeClaim: { claimName: managedObjects.databaseClaim },
            },
            { name: socketMount.name, emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
            { name: temporaryMount.name, emptyDir: {} },
            loginSource(['init.sql', 'client.cnf']),
          ],
        },
      },
    },
  };
}

/** Returns a volume with the Secret's rendered keys, readable only by MariaDB's group. */
export function loginSource(keys: readonly string[]) {
  const items = keys.map((key) => ({ key, path: key }));
  const secret = { secretName: managedObjects.credentials, defaultMode: 0o440, items };
  return { name: loginVolume, secret } as const;
}
