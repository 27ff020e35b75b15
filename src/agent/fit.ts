import type { Family, JobRequest } from '../api/job.ts';
import type { Backend } from './backends/backend.ts';
import { backends } from './backends/backends.ts';
import type { FamilyFinding } from './planning/family.ts';

/** How a host, as it was found, and a run that was made for one family go together. */
export interface Fit {
  /** What the run can write on the host; undefined when it must touch nothing there, not even to end what is in hand. */
  readonly backend: Backend | undefined;
  /** Why none of the NICs can be configured; undefined when they can. */
  readonly misfit: string | undefined;
  /** What the host is, when there is an agent for it. */
  readonly family: Family | undefined;
}

/** A run that was made for another family cannot reach the files of this host. */
export function fitOf(
  { family, found }: FamilyFinding,
  { family: made = 'netplan' }: JobRequest,
): Fit {
  if (family === undefined) return { backend: backends[made], misfit: `found ${found}`, family };
  if (backends[family] === undefined) {
    const misfit = `found ${family} (${found}), which this agent has no files for`;
    return { backend: undefined, misfit, family: undefined };
  }
  if (family === made) return { backend: backends[made], misfit: undefined, family };
  const misfit = `found ${family} (${found}), but the Job is for ${made}`;
  return { backend: undefined, misfit, family };
}
