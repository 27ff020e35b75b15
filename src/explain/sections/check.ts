import { doctorTexts } from '../../api/texts/doctor.ts';
import type { Wording } from '../../api/texts/text.ts';
import { conclude, missingOf } from '../conclusion.ts';
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

/** Returns a section's report, errors first; `empty`: summary without checks and unread facts. */
export function reportOf(
  section: Section,
  summary: Wording,
  checked: readonly Checked[],
  empty: Wording = doctorTexts.nothingToExamine,
): SectionReport {
  const findings = checked.flatMap((each) => each.findings.map((found) => ({ section, ...found })));
  const skipped = checked.flatMap(({ skipped: list = [] }) =>
    list.map((missing) => ({ section, ...missing })),
  );
  const known = new Set<string>();
  const checks = checked.reduce((sum, each) => sum + each.checks, 0);
  const isExamined = checks > 0;
  const isWrong = findings.some(({ severity }) => severity !== 'info');
  return {
    section,
    conclusion: conclude({ isWrong, isExamined, missing: skipped }),
    summary: isExamined ? summary : skipped.length > 0 ? doctorTexts.notExamined : empty,
    findings: findings.toSorted((a, b) => order.indexOf(a.severity) - order.indexOf(b.severity)),
    // A missing fact skips several checks.
    skipped: skipped.filter((each) => {
      const text = missingText(each).en;
      return !known.has(text) && known.add(text);
    }),
    checks,
  };
}

/** Runs checks on a fact, or reports the fact as missing. */
export function onFact<T>(fact: Fact<T>, check: (value: T) => Checked): Checked {
  if (fact.state === 'read') return check(fact.value);
  return { findings: [], skipped: missingOf(fact), checks: 0 };
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
