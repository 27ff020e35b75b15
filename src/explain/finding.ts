import type { Wording } from '../api/texts/text.ts';
import type { Conclusion } from './conclusion.ts';
import type { Missing } from './fact.ts';
import type { NextStep } from './step.ts';

/** Examination sections, in order. */
export const sections = [
  'parts',
  'openstack',
  'delivery',
  'nodes',
  'network',
  'bootFiles',
] as const;

/** Sections before an installation, in order. */
export const preflightSections = [
  'api',
  'rights',
  'definitions',
  'machines',
  'clusterNetworks',
  'cloud',
] as const;

export type SystemSection = (typeof sections)[number];
export type Section = SystemSection | (typeof preflightSections)[number];

/** `info`: the user's choice, such as a port outside the selected subnets; never counts for the exit status. */
export type Severity = 'error' | 'warning' | 'info';

/** NIC behind a finding. */
export interface AffectedNic {
  /** `provider/node`. */
  readonly node: string;
  readonly nic: string;
  /** Foreign file with configuration for the NIC's next boot; absent: none, or unknown. */
  readonly file?: string;
  /** Stanza or profile in the file, with the option; absent: unknown. */
  readonly section?: string;
}

/** Problem, or information for the user. */
export interface Finding {
  readonly section: Section;
  readonly severity: Severity;
  /** `namespace/name`, `provider`, `provider/node`, `provider/node/nic`, a network or a part. */
  readonly subject: string;
  /** Reason in the reasons table. */
  readonly reason: string;
  readonly evidence: Wording;
  readonly next: NextStep | undefined;
  /** All NICs behind the finding; absent: the finding is not about NICs. */
  readonly affected?: readonly AffectedNic[];
}

/** Check without facts. */
export interface SkippedCheck extends Missing {
  readonly section: Section;
}

/** Section result: sentence for a section without findings, findings and skipped checks. */
export interface SectionReport {
  readonly section: Section;
  /** Undefined: the facts left nothing to examine. */
  readonly conclusion: Conclusion | undefined;
  readonly summary: Wording;
  readonly findings: readonly Finding[];
  readonly skipped: readonly SkippedCheck[];
  /** Executed checks. */
  readonly checks: number;
}
