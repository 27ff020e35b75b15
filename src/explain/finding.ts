import type { Wording } from '../api/reasons/reason-row.ts';
import type { NextStep } from './step.ts';

/** Sections of an examination, in order. */
export const sections = [
  'parts',
  'openstack',
  'delivery',
  'nodes',
  'network',
  'bootFiles',
] as const;

export type Section = (typeof sections)[number];

/** `info`: a choice of the user, such as a port outside the selected subnets; never counts for the exit status. */
export type Severity = 'error' | 'warning' | 'info';

/** Something that is wrong, or that a user may want to know. */
export interface Finding {
  readonly section: Section;
  readonly severity: Severity;
  /** `namespace/name`, `provider/node`, `provider/node/nic`, a network or a part. */
  readonly subject: string;
  /** Reason from the table of reasons. */
  readonly reason: string;
  readonly evidence: Wording;
  readonly next: NextStep | undefined;
}

/** A check that could not run. */
export interface SkippedCheck {
  readonly section: Section;
  readonly missing: string;
  readonly next: string;
}

/** Result of one section: the sentence of a section without findings, its findings and skipped checks. */
export interface SectionReport {
  readonly section: Section;
  readonly summary: Wording;
  readonly findings: readonly Finding[];
  readonly skipped: readonly SkippedCheck[];
  /** Checks that ran. */
  readonly checks: number;
}
