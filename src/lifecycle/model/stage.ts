import type { MultiNicOperatorStatus } from '../../api/multinicoperator.ts';
import type { Reason } from '../../api/reasons.ts';
import type { ConfigMap, Job, Pod } from '../../kube/core-resources.ts';
import type { KubeObject, ObjectRef } from '../../kube/object.ts';
import type { Resource } from '../../kube/resource.ts';
import type { Accepted, Problem } from './accepted.ts';
import type { Desired } from './desired.ts';
import type { OperatorObject } from './multinicoperator.ts';

/** Objects in lifecycle's namespace by kind and name, and cluster-scoped objects. */
export interface LiveObjects {
  find<T extends KubeObject>(resource: Resource<T>, name: string): T | undefined;
}

/** Input for all stages: a stage reads nothing itself. */
export interface Observed {
  readonly operator: OperatorObject;
  readonly status: MultiNicOperatorStatus;
  readonly accepted: Accepted;
  readonly namespace: string;
  readonly objects: LiveObjects;
  /** Pods from operator, MariaDB, backups and operations. */
  readonly pods: readonly Pod[];
  /** Jobs from backups and operations. */
  readonly jobs: readonly Job[];
  /** Milliseconds since this process first observed MariaDB's Pod in deletion; undefined: not in deletion. */
  readonly databaseEndingMs?: number | undefined;
  /** The operator manifests rendered by the chart; undefined: missing ConfigMap. */
  readonly base?: ConfigMap | undefined;
  /** Pods of the legacy controller, including Pods in deletion; undefined: none. */
  readonly legacyPods?: readonly Pod[];
  /** Minor version of Kubernetes 1.x. */
  readonly kubernetesMinor: number;
  readonly now: Date;
}

/** An object to delete. */
export interface Removal {
  readonly resource: Resource<KubeObject>;
  readonly ref: ObjectRef;
  /** Default: Background. */
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
}

/** An annotation for this version of an object; '': remove. */
export interface Note {
  readonly resource: Resource<KubeObject>;
  readonly object: KubeObject;
  readonly annotation: string;
  readonly text: string;
}

/** A message for users besides the phase. */
export interface Notice {
  /** Condition type set to True: `Stalled`, or `Degraded` for the phase of a running installation. */
  readonly condition: 'Stalled' | 'Degraded' | 'SecretInSpec' | 'OtherControllerActive';
  readonly reason: Reason;
  readonly message: string;
}

/** Actions and findings of a stage. */
export interface StagePlan<Report = unknown> {
  readonly apply: readonly Desired[];
  readonly remove: readonly Removal[];
  /** Objects created once and never changed, such as Jobs. */
  readonly create?: readonly Desired[];
  /** Annotation text on an object, written first. */
  readonly note?: Note;
  /** Legacy Deployments to scale to 0. */
  readonly stop?: readonly ObjectRef[];
  /** Objects with fields added by other managers, as text. */
  readonly drifted?: readonly string[];
  readonly problems: readonly Problem[];
  readonly notices: readonly Notice[];
  /** The stage's part of the status. */
  readonly report: Report;
  /** Requeue delay without any object change. */
  readonly requeueAfterMs?: number;
}

/** Returns a plan without changes, for a stage with unusable fields. */
export function unchanged<Report>(problems: readonly Problem[], report: Report): StagePlan<Report> {
  return { apply: [], remove: [], problems, notices: [], report };
}
