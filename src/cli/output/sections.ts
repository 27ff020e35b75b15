import { screensTexts } from '../../api/texts/screens.ts';
import { amount, filled, type Language, type Wording } from '../../api/texts/text.ts';
import { sectionTitles, words } from '../../api/texts/titles.ts';
import { missingText } from '../../explain/fact.ts';
import type { SectionReport } from '../../explain/finding.ts';
import { problemsIn } from '../../explain/findings.ts';
import { joined } from '../../explain/wording.ts';
import type { AccessChoice } from '../../session/access/sources.ts';
import { commandInContext } from '../../session/in-context.ts';
import { findingRows } from './finding-groups.ts';
import { mergedByCause, optionalIn } from './findings.ts';
import { displayWidth, padEnd, printable } from './width.ts';

/** Sections with the time of their checks. */
interface SectionsPage {
  readonly sections: readonly SectionReport[];
  readonly options: AccessChoice;
  readonly seconds: number;
}

/** Returns lines per section, then information, optional unread facts and the count. */
export function sectionsLines(
  { sections, options, seconds }: SectionsPage,
  lang: Language,
): string[] {
  const width = Math.max(
    ...sections.map(({ section }) => displayWidth(sectionTitles[section][lang])),
  );
  const infos = sections
    .flatMap(({ findings }) => findings)
    .filter(({ severity }) => severity === 'info');
  const complete = (command: string) => commandInContext(command, options);
  return [
    ...sections.flatMap((section) => sectionLines(section, { width, lang, complete })),
    ...infos.map(({ subject, evidence }) =>
      row(words.info[lang], `${subject}: ${evidence[lang]}`, width),
    ),
    ...mergedByCause(optionalIn(sections, lang)).flatMap(({ what, why, next }) => [
      row(words.skip[lang], `${what}: ${why}`, width),
      ...(next === undefined ? [] : [row('', `${words.next[lang]} ${next}`, width)]),
    ]),
    '',
    summaryLine(sections, seconds, lang),
  ];
}

function row(word: string, text: string, width: number): string {
  return `${padEnd(word, width)}        ${printable(text)}`;
}

interface Form {
  /** Width for section titles. */
  readonly width: number;
  readonly lang: Language;
  readonly complete: (command: string) => string;
}

/** A section without findings is a single line. */
function sectionLines(report: SectionReport, { width, lang, complete }: Form): string[] {
  const title = padEnd(sectionTitles[report.section][lang], width);
  const findings = problemsIn([report]);
  if (findings.length === 0) {
    const word = padEnd(conclusionWord(report)[lang], 4);
    return [`${title}  ${word}  ${printable(resultText(report)[lang])}`];
  }
  const indent = ' '.repeat(width);
  return findingRows(findings, lang, complete).flatMap(({ head, below }, at) => [
    `${at === 0 ? title : indent}  ${head}`,
    ...below.map((line) => `${indent}        ${line}`),
  ]);
}

function conclusionWord({ conclusion }: SectionReport): Wording {
  if (conclusion === undefined) return words.info;
  return { good: words.ok, wrong: words.fail, incomplete: words.skip }[conclusion];
}

/** Adds unread facts to the summary; the first lines name the causes. */
function resultText({ conclusion, checks, summary, skipped }: SectionReport): Wording {
  const [first] = skipped;
  if (conclusion !== 'incomplete' || first === undefined) return summary;
  const required = skipped.filter((each) => each.required !== undefined);
  if (required.length === 0) return missingText(first);
  const lacks = filled(screensTexts.lacks, {
    list: joined(
      required.map(({ what }) => what),
      ', ',
    ),
  });
  return checks > 0 ? joined([summary, lacks]) : lacks;
}

function summaryLine(sections: readonly SectionReport[], seconds: number, lang: Language): string {
  const checks = sections.reduce((sum, section) => sum + section.checks, 0);
  const findings = problemsIn(sections);
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  const warnings = findings.length - errors;
  const time = `${seconds.toFixed(1)}s`;
  return filled(screensTexts.checksSummary, {
    checks: amount(checks, 'check'),
    time: { en: time, ko: seconds.toFixed(1) },
    errors: amount(errors, 'error'),
    warnings: amount(warnings, 'warning'),
  })[lang];
}
