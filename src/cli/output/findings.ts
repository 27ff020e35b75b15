import { screensTexts } from '../../api/texts/screens.ts';
import { amount, filled, type Language } from '../../api/texts/text.ts';
import { words } from '../../api/texts/titles.ts';
import type { UnreadSource } from '../../explain/conclusion.ts';
import type { Finding, SectionReport } from '../../explain/finding.ts';
import { countsIn, problemsIn, skippedChecksIn } from '../../explain/findings.ts';
import type { Report, Skipped } from '../report.ts';
import { incompleteLines, incompleteObjects } from './incomplete.ts';
import { padEnd, printable } from './width.ts';

/** Returns skipped checks, each missing fact once. */
export function skippedIn(sections: readonly SectionReport[], lang: Language): Skipped[] {
  return skippedChecksIn(sections).map(({ what, why, next }) => ({
    what: what[lang],
    why: why[lang],
    ...(next[lang] === '' ? {} : { next: next[lang] }),
  }));
}

/** Returns skipped checks with optional facts; required sources have their own lines. */
export function optionalIn(sections: readonly SectionReport[], lang: Language): Skipped[] {
  const optional = sections.map((section) => ({
    ...section,
    skipped: section.skipped.filter(({ required }) => required === undefined),
  }));
  return skippedIn(optional, lang);
}

/** Returns a page's first lines: the first problem, then required sources without an answer. */
export function answerLines(
  findings: readonly Finding[],
  unread: readonly UnreadSource[],
  lang: Language,
): string[] {
  const [first] = findings;
  const wrong = first && wrongLine(findings, first, lang);
  return [...(wrong === undefined ? [] : [wrong]), ...incompleteLines(unread, lang)];
}

function wrongLine(
  findings: readonly Finding[],
  { subject, reason, evidence }: Finding,
  lang: Language,
): string {
  const counts = countsOf(findings);
  return printable(filled(screensTexts.wrong, { ...counts, subject, reason, evidence })[lang]);
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
  const all = amount(findings.length, 'finding');
  return filled(screensTexts.findings, { findings: all, ...countsOf(findings) })[lang];
}

/** Counts errors and warnings. */
function countsOf(findings: readonly Finding[]) {
  const { errors, warnings } = countsIn(findings);
  return { errors: amount(errors, 'error'), warnings: amount(warnings, 'warning') };
}

/** Returns a report's lists for JSON. */
export function listsOf(
  sections: readonly SectionReport[],
  unread: readonly UnreadSource[],
  lang: Language,
): Pick<Report, 'findings' | 'skipped' | 'incomplete'> {
  return {
    findings: problemsIn(sections).map((finding) => findingObject(finding, lang)),
    skipped: skippedIn(sections, lang),
    incomplete: incompleteObjects(unread, lang),
  };
}

/** Returns a finding for JSON, with its texts in one language. */
export function findingObject(finding: Finding, lang: Language): object {
  const { evidence, next, ...rest } = finding;
  const { text, commands, preview } = next ?? { text: undefined, commands: [], preview: [] };
  return { ...rest, message: evidence[lang], next: text?.[lang] ?? '', commands, preview };
}
