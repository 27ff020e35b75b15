import type { Wording } from '../../api/texts/text.ts';
import { type Fact, type Missing, missingText } from '../fact.ts';
import type { Finding, Section, SectionReport, Severity } from '../finding.ts';
import type { NextStep } from '../step.ts';

type OpenFinding = Omit<Finding, 'section'>;

/** Result from some checks in a section. */
export interface Checked {
  readonly findings: readonly OpenFinding[];
  readonly skipped?: readonly Missing[];
  /** Count of executed checks. */
  readonly checks: number;
}

const order: readonly Severity[] = ['error', 'warning', 'info'];

/** Returns a section's report, errors first. */
export function reportOf(
  section: Section,
  summary: Wording,
  checked: readonly Checked[],
): SectionReport {
  const findings = checked.flatMap((each) => each.findings.map((found) => ({ section, ...found })));
  const skipped = checked.flatMap(({ skipped: list = [] }) =>
    list.map((missing) => ({ section, ...missing })),
  );
  const known = new Set<string>();
  return {
    section,
    summary,
    findings: findings.toSorted((a, b) => order.indexOf(a.severity) - order.indexOf(b.severity)),
    // A missing fact skips several checks.
    skipped: skipped.filter((each) => {
      const text = missingText(each).en;
      return !known.has(text) && known.add(text);
    }),
    checks: checked.reduce((sum, { checks }) => sum + checks, 0),
  };
}

/** Runs checks on a fact, or reports the fact as missing. */
export function onFact<T>(fact: Fact<T>, check: (value: T) => Checked): Checked {
  if (fact.state === 'read') return check(fact.value);
  const { what, why, next } = fact;
  return { findings: [], skipped: [{ what, why, next }], checks: 0 };
}

export function error(
  subject: string,
  reason: string,
  evidence: Wording,
  next: NextStep | undefined,
): OpenFinding {
  return { severity: 'error', subject, reason, evidence, next };
}

export function warning(
  subject: string,
  reason: string,
  evidence: Wording,
  next: NextStep | undefined,
): OpenFinding {
  return { severity: 'warning', subject, reason, evidence, next };
}

export function info(subject: string, reason: string, evidence: Wording): OpenFinding {
  return { severity: 'info', subject, reason, evidence, next: undefined };
}
