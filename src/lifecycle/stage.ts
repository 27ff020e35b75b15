import type { MultiNicOperatorStatus } from '../api/multinicoperator.ts';
import type { Reason } from '../api/reasons.ts';
import type { ConfigMap, Pod } from '../kube/core-resources.ts';
import type { KubeObject, ObjectRef } from '../kube/object.ts';
import type { Resource } from '../kube/resource.ts';
import type { Accepted, Problem } from './accept/accepted.ts';
import type { OperatorObject } from './multinicoperator.ts';
import type { Desired } from './objects/desired.ts';

/** Objects of lifecycle's namespace by kind and name, and those outside of namespaces. */
export interface LiveObjects {
  find<T extends KubeObject>(resource: Resource<T>, name: string): T | undefined;
}

/** All that the stages decide from: a stage reads nothing itself. */
export interface Observed {
  readonly operator: OperatorObject;
  readonly status: MultiNicOperatorStatus;
  readonly accepted: Accepted;
  readonly namespace: string;
  readonly objects: LiveObjects;
  /** Pods of the operator, MariaDB, backups and restores. */
  readonly pods: readonly Pod[];
  /** Milliseconds since this process first saw the Pod of MariaDB being deleted; undefined: it is not. */
  readonly databaseEndingMs?: number | undefined;
  /** The chart's rendering of the operator; undefined: the ConfigMap is missing. */
  readonly base?: ConfigMap | undefined;
  /** Pods of the legacy controller, also those that are ending; undefined: none. */
  readonly legacyPods?: readonly Pod[];
  /** Minor version of Kubernetes 1.x. */
  readonly kubernetesMinor: number;
  readonly now: Date;
}

/** An object that is to go. */
export interface Removal {
  readonly resource: Resource<KubeObject>;
  readonly ref: ObjectRef;
  /** Default: Background. */
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
}

/** Something that people are to know beside the phase. */
export interface Notice {
  /** Type of the condition that it sets to True, `Stalled`, or `Degraded` for the phase of an installation that works on. */
  readonly condition: 'Stalled' | 'Degraded' | 'SecretInSpec' | 'OtherControllerActive';
  readonly reason: Reason;
  readonly message: string;
}

/** What a stage wants, and what it found. */
export interface StagePlan<Report = unknown> {
  readonly apply: readonly Desired[];
  readonly remove: readonly Removal[];
  /** Objects that are created once and never changed, such as Jobs. */
  readonly create?: readonly Desired[];
  /** Deployments of the legacy system that are scaled to 0. */
  readonly stop?: readonly ObjectRef[];
  readonly problems: readonly Problem[];
  readonly notices: readonly Notice[];
  /** Its part of the status. */
  readonly report: Report;
  /** When to look again without a change of any object. */
  readonly requeueAfterMs?: number;
}

export type Stage<Report> = (observed: Observed) => StagePlan<Report>;

/** The plan of a stage whose fields cannot be used: nothing changes. */
export function unchanged<Report>(problems: readonly Problem[], report: Report): StagePlan<Report> {
  return { apply: [], remove: [], problems, notices: [], report };
}
