import { labels } from '../../api/names.ts';
import {
  type ConfigMap,
  claims,
  type Pod,
  type Secret,
  type StatefulSet,
  secrets,
  statefulSets,
} from '../../kube/core-resources.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Resource } from '../../kube/resource.ts';
import type { OperationRecord } from '../model/mariadb/operation-record.ts';
import type { Observed } from '../model/stage.ts';
import { credentials } from '../stages/credentials/credentials.ts';
import { observedOf, operatorWith } from './observed.ts';

const namespace = 'multinic-system';
const managed = { [labels.protected]: 'true', [labels.managedByOperator]: 'production-system' };

type Live = readonly (readonly [Resource<KubeObject>, KubeObject])[];

export interface DatabaseInput {
  /** Fields of spec.database besides `enabled`. */
  readonly database?: Readonly<Record<string, unknown>>;
  readonly annotations?: Record<string, string>;
  readonly status?: unknown;
  readonly live?: Live;
  readonly pods?: readonly Pod[];
  /** Names in the chart's `global.imagePullSecrets`; undefined: missing ConfigMap. */
  readonly pullSecrets?: readonly string[] | undefined;
  readonly now?: Date;
  readonly databaseEndingMs?: number;
}

/** Returns a MultiNicOperator with a database; without a Secret unless `live` has one. */
export function observedDatabase(scene: DatabaseInput = {}): Observed {
  const {
    database = {},
    annotations = {},
    status,
    live = [],
    pods = [],
    now,
    databaseEndingMs,
    pullSecrets,
  } = scene;
  const operator = operatorWith(
    { database: { enabled: true, ...database } },
    { annotations, status },
  );
  const base = pullSecrets && { base: baseWith(pullSecrets) };
  const observed = { ...observedOf(operator, live), pods, databaseEndingMs, ...base };
  return now === undefined ? observed : { ...observed, now };
}

function baseWith(names: readonly string[]): ConfigMap {
  const spec = {
    imagePullSecrets: names.map((name) => ({ name })),
    containers: [{ name: 'operator' }],
  };
  const deployment = {
    kind: 'Deployment',
    metadata: { name: 'multinic-controller' },
    spec: { template: { spec } },
  };
  return {
    metadata: { namespace, name: 'multinic-controller-base' },
    data: { 'deployment.yaml': JSON.stringify(deployment) },
  };
}

/** Returns the Secret as the credentials stage writes it. */
export function secretWith(passwords: readonly string[] = ['root-1', 'user-1', 'salt-1']): Secret {
  const rest = [...passwords];
  const plan = credentials(observedDatabase(), () => rest.shift() ?? 'backup-1');
  return plan.apply[0]?.object as unknown as Secret;
}

export const withSecret = (secret = secretWith()): Live[number] => [secrets, secret];

export function statefulSet(
  { image = 'mariadb:10.11', ready = 1, isLegacy = false, isManaged = true } = {},
  env: readonly { readonly name: string; readonly value: string }[] = [],
): Live[number] {
  const object: StatefulSet = {
    metadata: {
      namespace,
      name: 'mariadb',
      uid: 'set-1',
      generation: 2,
      labels: isManaged ? managed : {},
    },
    spec: {
      serviceName: 'mariadb',
      selector: {},
      ...(isLegacy ? { volumeClaimTemplates: [{ metadata: { name: 'mysql-storage' } }] } : {}),
      template: { spec: { containers: [{ name: 'mariadb', image, env: [...env] }] } },
    },
    status: { replicas: 1, observedGeneration: 2, readyReplicas: ready },
  };
  return [statefulSets, object];
}

export function named(
  resource: Resource<KubeObject>,
  name: string,
  rest: Readonly<Record<string, unknown>> = {},
  extra: Readonly<Record<string, string>> = managed,
): Live[number] {
  return [resource, { metadata: { namespace, name, labels: extra }, ...rest }];
}

/** Returns MariaDB's claim with the annotation of an operation. */
export function withOperation(record: OperationRecord): Live[number] {
  const annotations = { 'multinic.io/operation': JSON.stringify(record) };
  const name = 'mysql-storage-mariadb-0';
  return [claims, { metadata: { namespace, name, labels: managed, annotations } }];
}

type Status = NonNullable<Pod['status']>;
type ContainerStatus = NonNullable<Status['initContainerStatuses']>[number];
export type State = NonNullable<ContainerStatus['state']>;

function statusOf(name: string, state: State, lastState?: State): ContainerStatus {
  return {
    name,
    image: '',
    imageID: '',
    ready: false,
    restartCount: 0,
    state,
    ...(lastState ? { lastState } : {}),
  };
}

/** Returns Pod mariadb-0 with this init container state. */
export function databasePodWith(
  prepare: State,
  {
    isReady = false,
    deletionTimestamp,
    last,
    server,
  }: {
    readonly isReady?: boolean;
    readonly deletionTimestamp?: string;
    readonly last?: State;
    readonly server?: readonly [State, State];
  } = {},
): Pod {
  return {
    metadata: {
      namespace,
      name: 'mariadb-0',
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    },
    spec: { nodeName: 'node-1', containers: [] },
    status: {
      conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }],
      initContainerStatuses: [statusOf('prepare-data', prepare, last)],
      containerStatuses: server ? [statusOf('mariadb', ...server)] : [],
    },
  };
}

export const prepared: State = { terminated: { exitCode: 0, message: '{"version": "10.11.19"}' } };
export const readyPod = databasePodWith(prepared, { isReady: true });

/** Returns a finished Pod of a Job that failed with this text. */
export function failedPod(job: string, message: string, exitCode: number): Pod {
  return backupPod(job, '2026-11-26T10:00:00Z', exitCode < 128 ? message : '', exitCode);
}

/** Returns a finished Pod of a backup script Job. */
export function backupPod(job: string, at: string, message: unknown, exitCode = 0): Pod {
  const text = typeof message === 'string' ? message : JSON.stringify(message);
  const state: State = { terminated: { exitCode, finishedAt: at, message: text } };
  return {
    metadata: {
      namespace,
      name: `${job}-x`,
      labels: { app: 'mariadb-backup', 'batch.kubernetes.io/job-name': job },
    },
    status: { containerStatuses: [statusOf('backup', state)] },
  };
}
