import { type UnreadSource, unreadSources } from './conclusion.ts';
import { type Missing, missingText } from './fact.ts';
import type { Finding, SectionReport, Severity, SkippedCheck } from './finding.ts';

/** Returns errors, then warnings. */
export function problemsIn(sections: readonly SectionReport[]): Finding[] {
  const all = sections.flatMap(({ findings }) => findings);
  const problems = all.filter(({ severity }) => severity !== 'info');
  return problems.toSorted((a, b) => rank[a.severity] - rank[b.severity]);
}

const rank: Readonly<Record<Severity, number>> = { error: 0, warning: 1, info: 2 };

/** Counts errors and warnings. */
export function countsIn(findings: readonly Finding[]) {
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  return { errors, warnings: findings.length - errors };
}

/** Groups findings by severity and reason, ordered by each group's first finding. */
export function groupedByCause(findings: readonly Finding[]): (readonly Finding[])[] {
  return [...Map.groupBy(findings, ({ severity, reason }) => `${severity} ${reason}`).values()];
}

/** Returns skipped checks, each missing fact once. */
export function skippedChecksIn(sections: readonly SectionReport[]): SkippedCheck[] {
  const all = sections.flatMap(({ skipped }) => skipped);
  return [...new Map(all.map((each) => [missingText(each).en, each])).values()];
}

/** Returns an examination's required sources without an answer. */
export function unreadIn(
  sections: readonly SectionReport[],
  further: readonly Missing[] = [],
): UnreadSource[] {
  return unreadSources([...sections.flatMap(({ skipped }) => skipped), ...further]);
}
