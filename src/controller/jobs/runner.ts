import type { Family, Fence, JobAction, JobRequest, JobResult } from '../../api/job.ts';
import type { NodeReason } from '../../api/reasons.ts';
import type { ObjectRef } from '../../kube/object.ts';
import type { Machine } from '../objects/machine.ts';

/** Events that may have changed a node without an agent run. */
export interface NodeEvents {
  readonly bootId: string | undefined;
  /** Time of the Node's last transition to Ready, as the reporting component wrote it. */
  readonly readySince?: string | undefined;
  /** Value of the annotation requesting a check. */
  readonly checkAsked?: string | undefined;
  /** Value of the annotation requesting a check with healing. */
  readonly healAsked?: string | undefined;
}

/** The task for one agent run on one node. */
export interface AgentTask extends Fence {
  readonly action: JobAction;
  /** 1 for the first run with this action and content. */
  readonly attempt: number;
  /** Content hash; runs with equal content need no repetition. */
  readonly content: string;
  /** Kubernetes Node name. */
  readonly node: string;
  readonly machine: Machine;
  /** Known to the creator only; the Job does not store it. */
  readonly occasion?: NodeEvents;
  /** Network manager whose files the agent manages. */
  readonly family: Family;
  readonly instance: string;
  /** The MultiNicNodeConfig behind the task. */
  readonly config: Required<ObjectRef>;
}

/**
 * prepared: created, cannot start by itself. pending: may start any moment. running: the agent works. ending: being
 * deleted. ended: no process left on the node.
 */
export type Phase = 'prepared' | 'pending' | 'running' | 'ending' | 'ended';

/** An infrastructure failure; the NICs' state is unknown. */
export interface Failure {
  readonly reason: NodeReason;
  readonly message: string;
}

/** Outcome of a finished run: the agent's result, or the reason for a missing result. */
export type RunOutcome =
  | { readonly kind: 'result'; readonly result: JobResult }
  /** `fence`: newest object version observed by the host, if the host refused an older version. */
  | ({ readonly kind: 'failure'; readonly fence?: Fence } & Failure);

/** One run as observed in the cluster. */
export interface Run extends AgentTask {
  readonly name: string;
  /** Creation time by the API server's clock. */
  readonly createdAt?: string | undefined;
  readonly phase: Phase;
  /** Why a pending run does not start. */
  readonly trouble: Failure | undefined;
  /** Obstacle of a pending run: `pod` not created, `kubelet` has not accepted the Pod, `container` not started. */
  readonly awaits?: 'pod' | 'kubelet' | 'container';
  /** Set if and only if the phase is `ended`. */
  readonly ended: { readonly verdict: RunOutcome } | undefined;
}

/** A run that cannot be created in the current state; the status must show the reason. */
export class RunRefused extends Error {
  override readonly name = 'RunRefused';
}

/** Starts agents on nodes. All answers derive from cluster state: a restarted process knows the same. */
export interface Runner {
  /** Returns the run's name for a task: deterministic, at most 63 characters. */
  nameOf(task: AgentTask): string;
  /** Returns all known runs for an object name, including runs for an earlier object with the same name. */
  runsFor(config: ObjectRef): readonly Run[];
  /** Returns all known runs on this node. */
  runsOn(node: string): readonly Run[];
  /** Returns unfinished runs. */
  open(): readonly Run[];
  /** Creates the run without starting it, hence the record can be written first; idempotent. */
  prepare(task: AgentTask, signal: AbortSignal): Promise<Run>;
  /** Starts the run or completes a partial start; a second call restores missing parts. */
  start(task: AgentTask, request: JobRequest, signal: AbortSignal): Promise<void>;
  /** Deletes the run and its ConfigMap; a running agent is stopped first. */
  remove(run: Run, signal: AbortSignal): Promise<void>;
}
