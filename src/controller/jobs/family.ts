import type { Family, JobResult } from '../../api/job.ts';
import type { Reason } from '../../api/reasons.ts';
import type { Machine } from '../objects/machine.ts';
import type { RunOutcome } from './runner.ts';

/** Distributions that ship NetworkManager, as named by the kubelet: PRETTY_NAME in os-release(5). */
const withNetworkManager = /^(Red Hat|CentOS|Rocky|Alma|Oracle Linux|Fedora)/i;

/** Guesses a machine's network manager from its OS image; a wrong guess costs one extra run. */
export function guessFamily({ osImage = '' }: Pick<Machine, 'osImage'>): Family {
  return withNetworkManager.test(osImage) ? 'keyfile' : 'netplan';
}

/**
 * Returns the network manager detected by the agent, if different from the requested one; the agent then changed
 * nothing.
 */
export function otherFamilyIn(verdict: RunOutcome, sent: Family | undefined): Family | undefined {
  if (verdict.kind === 'failure' || !isOfOther(verdict.result)) return undefined;
  const { family } = verdict.result;
  return family === sent ? undefined : family;
}

/** A NIC refused as AgentTooOld proves nothing about the network manager. */
function isOfOther({ outcome, nics }: JobResult): boolean {
  const inconclusive: readonly Reason[] = ['WrongFamily', 'AgentTooOld'];
  return outcome === 'failed' && nics.every(({ reason }) => inconclusive.includes(reason));
}

interface Sent {
  /** Undefined in records from an earlier version. */
  readonly family?: Family | undefined;
  readonly triedFamilies?: readonly Family[] | undefined;
}

/**
 * True if the next agent must start immediately. Each detected network manager gets one run: two agents could otherwise
 * redirect to each other forever.
 */
export function isNews(found: Family | undefined, { family, triedFamilies = [] }: Sent): boolean {
  return found !== undefined && found !== family && !triedFamilies.includes(found);
}
