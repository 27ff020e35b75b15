import { screensTexts } from '../../api/texts/screens.ts';
import { amount, filled } from '../../api/texts/text.ts';
import { words } from '../../api/texts/titles.ts';
import { missingText } from '../../explain/fact.ts';
import type { Finding, SectionReport, Severity } from '../../explain/finding.ts';
import type { AccessOptions, FailOn, Language } from '../options.ts';
import type { Skipped } from '../report.ts';
import { inContext } from './in-context.ts';
import { aligned } from './table.ts';
import { padEnd, printable } from './width.ts';
import { nextLine } from './wording.ts';

/** Returns the reports with next steps for the user's clusters; a finding's subject begins with its business cluster. */
export function inContextOf(
  sections: readonly SectionReport[],
  options: AccessOptions,
): SectionReport[] {
  return sections.map((section) => ({
    ...section,
    findings: section.findings.map((finding) => ({
      ...finding,
      next: inContext(finding.next, options, finding.subject.split('/')[0]),
    })),
  }));
}

export function problemsIn(sections: readonly SectionReport[]): Finding[] {
  const all = sections.flatMap(({ findings }) => findings);
  const problems = all.filter(({ severity }) => severity !== 'info');
  return problems.toSorted((a, b) => rank[a.severity] - rank[b.severity]);
}

const rank: Readonly<Record<Severity, number>> = { error: 0, warning: 1, info: 2 };

/** Returns skipped checks, each missing fact once. */
export function skippedIn(sections: readonly SectionReport[], lang: Language): Skipped[] {
  const all = sections.flatMap(({ skipped }) => skipped);
  const byMissing = new Map(all.map((each) => [missingText(each).en, each]));
  return [...byMissing.values()].map(({ what, why, next }) => ({
    what: what[lang],
    why: why[lang],
    next: next[lang],
  }));
}

/** True if a finding is at or above the limit. */
export function isFailed(findings: readonly Finding[], failOn: FailOn): boolean {
  if (failOn === 'never') return false;
  return findings.some(({ severity }) => severity === 'error' || severity === failOn);
}

export function severityWord(severity: Severity, lang: Language): string {
  const word = { error: words.fail, warning: words.warn, info: words.info }[severity];
  return word[lang];
}

/** Returns findings as lines, each with its next step below. */
export function findingLines(findings: readonly Finding[], lang: Language): string[] {
  const heads = aligned(
    findings.map(({ severity, subject, reason, evidence }) =>
      [severityWord(severity, lang), subject, reason, evidence[lang]].map(printable),
    ),
  ).split('\n');
  return findings.flatMap(({ next }, at) => [
    heads[at] ?? '',
    ...(next ? [`      ${words.next[lang]} ${printable(nextLine(next, lang))}`] : []),
  ]);
}

export function skippedLines(skipped: readonly Skipped[], lang: Language): string[] {
  return mergedByCause(skipped).flatMap(({ what, why, next }) => [
    `${padEnd(words.skip[lang], 4)}  ${printable(`${what}: ${why}`)}`,
    ...(next === undefined ? [] : [`      ${words.next[lang]} ${printable(next)}`]),
  ]);
}

/** Merges reads with the same cause and next step: one missing right hides several reads. */
export function mergedByCause(skipped: readonly Skipped[]): Skipped[] {
  const groups = Map.groupBy(skipped, ({ why, next }) => JSON.stringify([why, next]));
  return [...groups.values()].flatMap((group) => {
    const what = group.map((each) => each.what).join(', ');
    return group.slice(0, 1).map((first) => ({ ...first, what }));
  });
}

/** Returns "5 findings: 2 errors, 3 warnings". */
export function countLine(findings: readonly Finding[], lang: Language): string {
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  const warnings = findings.length - errors;
  return filled(screensTexts.findings, {
    findings: amount(findings.length, 'finding'),
    errors: amount(errors, 'error'),
    warnings: amount(warnings, 'warning'),
  })[lang];
}

/** Returns a finding for JSON, with its texts in one language. */
export function findingObject(finding: Finding, lang: Language): object {
  const { evidence, next, ...rest } = finding;
  const { text, commands, preview } = next ?? { text: undefined, commands: [], preview: [] };
  return { ...rest, message: evidence[lang], next: text?.[lang] ?? '', commands, preview };
}
