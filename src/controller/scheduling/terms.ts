import { type Protocol, protocols } from '../../api/job.ts';
import type { Reason } from '../../api/reasons.ts';
import { type Applied, deliveredMacs, type Terms, triedBefore } from '../jobs/applied.ts';
import { type Contents, protocolFor } from '../jobs/request.ts';
import type { AgentTask } from '../jobs/runner.ts';
import { allowRemovalsOf, type NodeConfig } from '../objects/stores.ts';
import type { Rollout } from './rollout-budget.ts';

/** What an agent says that cannot read the request: perhaps it speaks an older version. */
export const unreadable: ReadonlySet<Reason> = new Set(['ProtocolMismatch', 'InvalidRequest']);

export interface TermsInput {
  readonly config: NodeConfig;
  readonly contents: Contents;
  readonly order: AgentTask;
  readonly before: Applied | undefined;
  /** Whether the rollout budget counts the run. */
  readonly isBudgeted: boolean;
}

export interface TermsOptions {
  /** Whether the server still has this state of the object, asked now. */
  readonly isCurrent: (config: NodeConfig, signal: AbortSignal) => Promise<boolean>;
  readonly rollout: Pick<Rollout, 'revisionOf' | 'carriedPhase'>;
}

/** Returns how the agent is asked after what it said the last time. */
export type TermsOf = (input: TermsInput, signal: AbortSignal) => Promise<Terms>;

export function createTermsOf({ isCurrent, rollout }: TermsOptions): TermsOf {
  return async ({ config, contents, order, before, isBudgeted }, signal) => {
    const isHere = before?.nodeName === order.node;
    const carried = order.action === 'apply' && isHere ? rollout.carriedPhase(config) : undefined;
    const kept = {
      triedFamilies: triedBefore(order.machine, before),
      macs: isHere ? deliveredMacs(config) : [],
      allowedRemovals: allowRemovalsOf(config),
      revision: rollout.revisionOf(config),
      rollout: isBudgeted ? ('started' as const) : carried,
    };
    const newest = protocolFor(contents);
    if (before?.content !== order.content) return { protocol: newest, ...kept };
    const { hostFence, worked } = before;
    // Only what the server says now may take precedence over what the host has seen.
    const superseding = hostFence !== undefined && (await isCurrent(config, signal));
    const fence = superseding ? { hostFence } : {};
    return { protocol: protocolAfter(before, newest), worked, ...kept, ...fence };
  };
}

/**
 * Returns the next older protocol version after a request that the agent could not read, and the newest one after the oldest. After
 * `AgentTooOld` it returns the newest, too: the image may have been upgraded since.
 */
function protocolAfter({ protocol: spoken, reasons = [] }: Applied, newest: Protocol): Protocol {
  if (reasons.includes('AgentTooOld')) return newest;
  if (!reasons.some((reason) => unreadable.has(reason))) return spoken;
  return protocols.findLast((version) => version < spoken) ?? newest;
}
