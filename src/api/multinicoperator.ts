import * as z from 'zod';
import { conditions } from './condition.ts';

// Legacy objects stay valid: nothing is required, and any value with the right type is accepted here. The reconciler
// reports unusable values in the condition `Accepted`.

const text = (what: string) => z.string().optional().describe(what);
const flag = (what: string) => z.boolean().optional().describe(what);
const count = (what: string) => z.int32().optional().describe(what);
const time = (what: string) => z.iso.datetime({ offset: true }).optional().describe(what);
const atomic = { 'x-kubernetes-list-type': 'atomic' };

const resources = z
  .object({
    cpu: text('CPU, such as 200m.'),
    memory: text('Memory, such as 256Mi.'),
  })
  .optional()
  .describe('Request and limit of the container.');

const keyReference = (what: string) =>
  z
    .object({
      name: text(`Name of the ${what}.`),
      key: text('Its key.'),
      optional: flag('Whether the object or key may be missing.'),
    })
    .optional()
    .describe(`Key of a ${what} in the same namespace.`);

const environmentVariable = z.object({
  name: text('Name of the variable.'),
  value: text('Its value.'),
  valueFrom: z
    .object({
      secretKeyRef: keyReference('Secret'),
      configMapKeyRef: keyReference('ConfigMap'),
    })
    .optional()
    .describe('Where its value comes from, instead of value.'),
});

export type EnvironmentVariable = z.infer<typeof environmentVariable>;

const controller = z
  .object({
    image: text("Image of the operator. Default: the chart's."),
    replicas: count(
      'Replicas of the operator; more than 1 needs MariaDB. Absent: not set, so that an autoscaler may own it.',
    ),
    resources,
    healthProbe: z
      .object({
        port: count('Port of /healthz and /readyz (default 8082).'),
        path: text('Path of the liveness probe (default /healthz).'),
      })
      .optional()
      .describe('Probes of the container.'),
    env: z
      .array(environmentVariable)
      .optional()
      .describe(
        "Environment variables of the operator; they win over the chart's. DB_* name an external database.",
      )
      .meta(atomic),
  })
  .optional()
  .describe('Deployment multinic-controller: the operator that reads OpenStack.');

const database = z
  .object({
    enabled: flag('Whether MariaDB is installed (default false).'),
    image: text('Image of MariaDB (default mariadb:10.11).'),
    storageSize: text('Size of its volume (default 10Gi); it may only grow.'),
    resources,
    credentials: z
      .object({
        rootPassword: text('Password of root. Default: generated.'),
        database: text('Name of the database (default multinic).'),
        user: text('User of the operator (default multinic).'),
        password: text('Password of that user. Default: generated.'),
      })
      .optional()
      .describe('Copied to Secret mariadb-credentials; passwords that are not set are generated.'),
    service: z
      .object({
        type: text('ClusterIP (default), NodePort or LoadBalancer.'),
        port: count('Port of the Service (default 3306).'),
        nodePort: count('Port on the nodes, with type NodePort or LoadBalancer.'),
      })
      .optional()
      .describe('Service mariadb.'),
    backup: z
      .object({
        schedule: text(
          'When a backup starts, as five cron fields (default 0 3 * * *); "": no backups.',
        ),
        retention: count('Number of backup files that are retained (default 7).'),
        storageSize: text(
          'Size of the backup volume; it may only grow (default: twice spec.database.storageSize and 1Gi; an existing volume keeps its size).',
        ),
      })
      .optional()
      .describe('Logical backups on a separate volume.'),
  })
  .optional()
  .describe('StatefulSet mariadb: the inventory of the operator.');

const openstack = z
  .object({
    identityEndpoint: text(
      'Keystone URL, for OpenstackConfigs with direct credentials that name none.',
    ),
    networkEndpoint: text(
      'Neutron URL, for OpenstackConfigs with direct credentials that name none.',
    ),
    computeEndpoint: text('Nova URL, for OpenstackConfigs with direct credentials that name none.'),
  })
  .optional()
  .describe('Defaults of OpenstackConfigs with direct credentials.');

const protection = z
  .object({
    enableMutationPrevention: flag(
      'Whether an admission webhook refuses changes to managed objects (default false).',
    ),
    enableAutoRecovery: flag('Whether changed and deleted objects are restored (default true).'),
    allowedOperations: z
      .array(z.string())
      .optional()
      .describe(
        'Operations that the webhook allows: update, patch, delete, scale. get, list and watch have no effect.',
      )
      .meta(atomic),
  })
  .optional()
  .describe('Protection of managed objects.');

const reconcileTrigger = z
  .object({
    mode: text('What starts a sync: immediate (default), scheduled, manual or webhook.'),
    interval: text('Mode scheduled: time between syncs, such as 15m; at least 1m.'),
    schedule: text('Mode scheduled: five cron fields instead of an interval.'),
    timezone: text('Time zone of the schedule (default UTC).'),
    immediateOnCRChange: flag('Whether a changed OpenstackConfig is synced at once.'),
  })
  .optional()
  .describe('When OpenstackConfigs are synced; see docs/guides/triggers.md.');

export const multiNicOperatorSpec = z.object({
  controller,
  database,
  openstack,
  protection,
  reconcileTrigger,
});

export type MultiNicOperatorSpec = z.infer<typeof multiNicOperatorSpec>;

const replicaStatus = {
  phase: text('Ready, Progressing, Degraded, Pending, Disabled or External.'),
  readyReplicas: count('Replicas that are ready.'),
};

export const multiNicOperatorStatus = z.object({
  observedGeneration: z.int().optional().describe('Generation that this status is about.'),
  phase: text('Pending, Running, Degraded or Error.'),
  message: text('Cause of the phase and action, for users.'),
  lastUpdated: time('Last change of this status.'),
  conditions: conditions.optional().describe('Ready, and the problems that prevent it.'),
  controllerStatus: z
    .object({ ...replicaStatus, desiredReplicas: count('Desired replicas.') })
    .optional()
    .describe('Deployment multinic-controller.'),
  databaseStatus: z
    .object({
      ...replicaStatus,
      version: text('Version that the server reports.'),
      operation: z
        .object({
          kind: text('restore, rotation or upgrade.'),
          request: text('Value of the annotation, or the new image.'),
          step: text('Step of the operation.'),
          startedAt: time('Start of the operation.'),
          deadline: time('Until then the operation gives up if it has changed nothing.'),
        })
        .optional()
        .describe(
          'The operation on the database; a copy of annotation multinic.io/operation on claim mysql-storage-mariadb-0.',
        ),
      lastBackup: z
        .object({
          at: time('End of the backup.'),
          file: text('Its file on the backup volume.'),
          bytes: z.int().optional().describe('Size of the file.'),
          verified: flag(
            'Whether the backup was restored into a scratch database with equal row counts.',
          ),
        })
        .optional()
        .describe('The last backup.'),
      lastRestore: z
        .object({
          request: text('Value of the annotation multinic.io/restore.'),
          file: text('File that was restored.'),
          at: time('End of the restore.'),
          result: text('Succeeded, or the error.'),
        })
        .optional()
        .describe('The last restore.'),
    })
    .optional()
    .describe('StatefulSet mariadb.'),
  protectionStatus: z
    .object({
      active: flag(
        'Whether the webhook configuration has the CA of lifecycle and the webhook answers.',
      ),
      preventedMutations: count('Changes that were refused, without dry runs.'),
      lastProtectionEvent: time('Last refusal.'),
    })
    .optional()
    .describe('The admission webhook.'),
});

export type MultiNicOperatorStatus = z.infer<typeof multiNicOperatorStatus>;
