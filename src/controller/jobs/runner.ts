import type { Family, Fence, JobAction, JobRequest, JobResult } from '../../api/job.ts';
import type { NodeReason } from '../../api/reasons.ts';
import type { ObjectRef } from '../../kube/object.ts';
import type { Machine } from '../objects/machine.ts';

/** What may have changed a node behind our back, as far as others tell of it. */
export interface NodeEvents {
  readonly bootId: string | undefined;
  /** Since when the Node is ready, in the words of whoever says it. */
  readonly readySince?: string | undefined;
  /** The annotation with which people ask for a check. */
  readonly checkAsked?: string | undefined;
}

/** One run of the agent on one node, as it is ordered. */
export interface AgentTask extends Fence {
  readonly action: JobAction;
  /** 1 for the first run of this action and content. */
  readonly attempt: number;
  /** Hash of what is asked for; runs of equal content need not be repeated. */
  readonly content: string;
  /** Name of the Kubernetes Node. */
  readonly node: string;
  readonly machine: Machine;
  /** Known to who orders it; its Job does not tell. */
  readonly occasion?: NodeEvents;
  /** Of which family's files the agent is given. */
  readonly family: Family;
  readonly instance: string;
  /** The MultiNicNodeConfig it is for. */
  readonly config: Required<ObjectRef>;
}

/**
 * prepared: nothing has started and nothing will by itself; pending: may start at any moment; running: the agent is at
 * work; ending: being taken back; ended: nothing of it works on the node any more.
 */
export type Phase = 'prepared' | 'pending' | 'running' | 'ending' | 'ended';

/** Something went wrong around the agent; nothing is known about the NICs. */
export interface Failure {
  readonly reason: NodeReason;
  readonly message: string;
}

/** What is known when a run has ended: the report of an agent that worked, or why there is none. */
export type RunOutcome =
  | { readonly kind: 'result'; readonly result: JobResult }
  /** `fence`: the newest object state that the host has seen, when it refused an older one. */
  | ({ readonly kind: 'failure'; readonly fence?: Fence } & Failure);

/** One run as the world shows it. */
export interface Run extends AgentTask {
  readonly name: string;
  /** By the API server's clock. */
  readonly createdAt?: string | undefined;
  readonly phase: Phase;
  /** Why a pending run does not get to work. */
  readonly trouble: Failure | undefined;
  /** What a pending run waits for: who makes its Pod, the kubelet that takes it on, or the start of its container. */
  readonly awaits?: 'pod' | 'kubelet' | 'container';
  /** There when, and only when, the phase is `ended`. */
  readonly ended: { readonly verdict: RunOutcome } | undefined;
}

/** A run that cannot be made as things stand; somebody has to know why. */
export class RunRefused extends Error {
  override readonly name = 'RunRefused';
}

/** How agents get to nodes. Everything it answers is read from the world: a new process knows as much as the old one. */
export interface Runner {
  /** Name of the run that this order makes: always the same, at most 63 characters. */
  nameOf(order: AgentTask): string;
  /** All known runs for the object of this name, also for one that had the name before. */
  runsFor(config: ObjectRef): readonly Run[];
  /** All known runs on this node. */
  runsOn(node: string): readonly Run[];
  /** Runs that have not ended. */
  open(): readonly Run[];
  /** Makes this run without starting it, so that it can be recorded first; a second call changes nothing. */
  prepare(order: AgentTask, signal: AbortSignal): Promise<Run>;
  /**
   * Starts this run, or brings one that stands half-way to its start; a second call puts back what was taken from it.
   */
  start(order: AgentTask, request: JobRequest, signal: AbortSignal): Promise<void>;
  /** Takes a run away together with its traces; one that works is told to stop first. */
  remove(run: Run, signal: AbortSignal): Promise<void>;
}
