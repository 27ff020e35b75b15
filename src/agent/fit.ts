import type { Family, JobRequest } from '../api/job.ts';
import { backends } from './backends/backends.ts';
import type { Backend } from './planning/backend.ts';
import type { FamilyFinding } from './planning/family.ts';

/** Match between the host's network manager and the run's. */
export interface Fit {
  /** Backend for writing on the host; undefined if the run must touch nothing, not even unfinished changes. */
  readonly backend: Backend | undefined;
  /** Why no NIC can be configured; undefined if possible. */
  readonly misfit: string | undefined;
  /** The host's network manager, if an agent supports it. */
  readonly family: Family | undefined;
}

/** Returns the match: a run made for another network manager cannot reach this host's files. */
export function fitOf(
  { family, found }: FamilyFinding,
  { family: made = 'netplan' }: JobRequest,
): Fit {
  if (family === undefined)
    return {
      backend: backends[made],
      misfit: `unsupported: ${found}`,
      family,
    };
  if (backends[family] === undefined) {
    const misfit = `host uses ${family} (${found}), which this agent does not support`;
    return { backend: undefined, misfit, family: undefined };
  }
  if (family === made) return { backend: backends[made], misfit: undefined, family };
  const misfit = `host uses ${family} (${found}), but the Job is for ${made}`;
  return { backend: undefined, misfit, family };
}
