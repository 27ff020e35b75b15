import type { Family, JobResult } from '../../api/job.ts';
import type { Reason } from '../../api/reasons.ts';
import type { Machine } from '../objects/machine.ts';
import type { RunOutcome } from './runner.ts';

/** Systems that come with NetworkManager, as the kubelet names them: PRETTY_NAME of os-release(5). */
const withNetworkManager = /^(Red Hat|CentOS|Rocky|Alma|Oracle Linux|Fedora)/i;

/** Of which family a machine may be, from its operating system: a wrong guess costs one more run. */
export function guessFamily({ osImage = '' }: Pick<Machine, 'osImage'>): Family {
  return withNetworkManager.test(osImage) ? 'keyfile' : 'netplan';
}

/** The family that an agent found in place of the one that it was sent for, and so touched nothing. */
export function otherFamilyIn(verdict: RunOutcome, sent: Family | undefined): Family | undefined {
  if (verdict.kind === 'failure' || !isOfOther(verdict.result)) return undefined;
  const { family } = verdict.result;
  return family === sent ? undefined : family;
}

/** Of a NIC that it has no words for the agent was not asked, whatever its family. */
function isOfOther({ outcome, nics }: JobResult): boolean {
  const unheard: readonly Reason[] = ['WrongFamily', 'AgentTooOld'];
  return outcome === 'failed' && nics.every(({ reason }) => unheard.includes(reason));
}

interface Sent {
  /** Undefined where an earlier version sent it. */
  readonly family?: Family | undefined;
  readonly triedFamilies?: readonly Family[] | undefined;
}

/** Whether the next agent is sent at once: one for each family that is found, as two may send us to each other for ever. */
export function isNews(found: Family | undefined, { family, triedFamilies = [] }: Sent): boolean {
  return found !== undefined && found !== family && !triedFamilies.includes(found);
}
