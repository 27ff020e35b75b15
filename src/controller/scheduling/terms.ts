import { type Protocol, protocols } from '../../api/job.ts';
import type { Reason } from '../../api/reasons.ts';
import { type Applied, deliveredMacs, type Terms, triedBefore } from '../jobs/applied.ts';
import { type Contents, protocolFor } from '../jobs/request.ts';
import type { AgentTask } from '../jobs/runner.ts';
import { allowRemovalsOf, type NodeConfig } from '../objects/stores.ts';
import type { Rollout } from './rollout-budget.ts';

/** Reasons returned by an agent that cannot read the request, possibly due to an older protocol version. */
export const unreadable: ReadonlySet<Reason> = new Set(['ProtocolMismatch', 'InvalidRequest']);

export interface TermsInput {
  readonly config: NodeConfig;
  readonly contents: Contents;
  readonly agentTask: AgentTask;
  readonly before: Applied | undefined;
  /** True if the rollout budget counts the run. */
  readonly isBudgeted: boolean;
}

export interface TermsOptions {
  /** Reads the object from the API server; true if uid and generation are unchanged. */
  readonly isCurrent: (config: NodeConfig, signal: AbortSignal) => Promise<boolean>;
  readonly rollout: Pick<Rollout, 'revisionOf' | 'carriedPhase'>;
  /** Version of this controller. */
  readonly version: string;
}

/** Returns protocol, fence and record fields for the next request, based on the last outcome. */
export type TermsOf = (input: TermsInput, signal: AbortSignal) => Promise<Terms>;

export function createTermsOf({ isCurrent, rollout, version }: TermsOptions): TermsOf {
  return async ({ config, contents, agentTask, before, isBudgeted }, signal) => {
    const isHere = before?.nodeName === agentTask.node;
    const carried =
      agentTask.action === 'apply' && isHere ? rollout.carriedPhase(config) : undefined;
    const inherited = {
      version,
      triedFamilies: triedBefore(agentTask.machine, before),
      macs: isHere ? deliveredMacs(config) : [],
      allowedRemovals: allowRemovalsOf(config),
      revision: rollout.revisionOf(config),
      rollout: isBudgeted ? ('started' as const) : carried,
    };
    const newest = protocolFor(contents);
    if (before?.content !== agentTask.content) return { protocol: newest, ...inherited };
    const { hostFence, worked } = before;
    // Only an object confirmed by the API server may supersede the host's fence.
    const superseding = hostFence !== undefined && (await isCurrent(config, signal));
    const fence = superseding ? { hostFence } : {};
    return { protocol: protocolAfter(before, newest), worked, ...inherited, ...fence };
  };
}

/**
 * Returns the next older protocol version after an unreadable request, and the newest version after the oldest. Returns
 * the newest version after `AgentTooOld` too: the image may be newer since.
 */
function protocolAfter({ protocol: spoken, reasons = [] }: Applied, newest: Protocol): Protocol {
  if (reasons.includes('AgentTooOld')) return newest;
  if (!reasons.some((reason) => unreadable.has(reason))) return spoken;
  return protocols.findLast((version) => version < spoken) ?? newest;
}
