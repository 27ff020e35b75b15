import type { JobResult, NicResult } from '../../api/job.ts';
import type { NodeConfigStatus } from '../../api/multinicnodeconfig.ts';
import type { Failure, Run, RunOutcome } from '../jobs/runner.ts';

/** Phase of one object, from which its status is derived. */
export type RunPhase =
  /** No agent may start; NICs stay unchanged. */
  | ({ readonly kind: 'refused' } & Failure)
  /** An agent must wait to start; `repeat` as in `working`. */
  | ({
      readonly kind: 'waiting';
      readonly repeat: boolean;
      /** True if the object waits for a stopped rollout. */
      readonly isStopped?: boolean;
      /** Outcome of a run on the object's former node, which has just ended. */
      readonly outcome?: RunOutcome | undefined;
    } & Failure)
  /** `repeat`: the status from an earlier attempt stays valid. */
  | { readonly kind: 'working'; readonly run: Run; readonly repeat: boolean }
  /** `at`: time the end was observed; `again`: the outcome was already reported and another phase overwrote it. */
  | {
      readonly kind: 'ended';
      readonly job: string;
      readonly at: Date;
      readonly verdict: RunOutcome;
      readonly again?: true;
    }
  /** The status has the outcome, and no run is left. `check`: findings of a drift check. */
  | { readonly kind: 'recorded'; readonly check?: CheckFindings };

interface CheckFindings {
  readonly nics: readonly NicResult[];
  /** NICs in the host's record; undefined: not listed. */
  readonly known?: JobResult['known'] | undefined;
  /** False: no run for this object has changed the host, and `known` lists foreign NICs. Default: true. */
  readonly isOfRecord?: boolean;
  readonly at: Date;
}

/** The gate's decision about removals. */
export interface Hold {
  /** Why NICs stay; undefined: none is held. */
  readonly message: string | undefined;
  readonly status: NodeConfigStatus['heldRemovals'];
}

/** NICs left unchanged until the rollout continues. */
export interface RolloutHold {
  /** MACs in lower case. */
  readonly kept: ReadonlySet<string>;
  /** Why they wait; undefined: none waits. */
  readonly why: (Failure & { readonly isStopped: boolean }) | undefined;
}

/** True if the status shows an earlier attempt's result for this machine, kept until the next result. */
export function isRepeat(situation: RunPhase): boolean {
  if (situation.kind === 'working' || situation.kind === 'waiting') return situation.repeat;
  return situation.kind === 'recorded';
}
