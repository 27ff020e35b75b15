import { screensTexts } from '../../api/texts/screens.ts';
import { amount, filled } from '../../api/texts/text.ts';
import { sectionTitles, words } from '../../api/texts/titles.ts';
import { missingText } from '../../explain/fact.ts';
import type { SystemFacts } from '../../explain/facts.ts';
import type { Finding, SectionReport } from '../../explain/finding.ts';
import type { Language } from '../options.ts';
import { mergedByCause, problemsIn, severityWord, skippedIn } from '../output/findings.ts';
import { aligned } from '../output/table.ts';
import { displayWidth, padEnd, printable } from '../output/width.ts';
import { nextLine } from '../output/wording.ts';
import { versionLine } from '../status/screen.ts';

export interface DoctorPage {
  readonly facts: SystemFacts;
  readonly sections: readonly SectionReport[];
  readonly businessContext: ReadonlyMap<string, string>;
  /** Empty: the current context. */
  readonly context: string;
  readonly seconds: number;
}

export function doctorText(page: DoctorPage, lang: Language): string {
  const { sections, facts } = page;
  const width = Math.max(
    ...sections.map(({ section }) => displayWidth(sectionTitles[section][lang])),
  );
  const infos = sections
    .flatMap(({ findings }) => findings)
    .filter(({ severity }) => severity === 'info');
  return [
    versionLine(facts),
    ...clusterLines(page, lang),
    '',
    ...sections.flatMap((section) => sectionLines(section, width, lang)),
    ...infos.map(({ subject, evidence }) =>
      row(words.info[lang], `${subject}: ${evidence[lang]}`, width),
    ),
    ...mergedByCause(skippedIn(sections, lang)).flatMap(({ what, why, next = '' }) => [
      row(words.skip[lang], `${what}: ${why}`, width),
      row('', `${words.next[lang]} ${next}`, width),
    ]),
    '',
    summaryLine(page, lang),
  ].join('\n');
}

function row(word: string, text: string, width: number): string {
  return `${padEnd(word, width)}        ${printable(text)}`;
}

function clusterLines({ facts, businessContext, context }: DoctorPage, lang: Language): string[] {
  const clusters = facts.clusters.state === 'read' ? facts.clusters.value : [];
  const names = clusters.map(
    ({ providerId }) =>
      `${providerId} (${screensTexts[businessContext.has(providerId) ? 'directAccess' : 'throughViola'][lang]})`,
  );
  const current = screensTexts.currentContext[lang];
  return [
    `${screensTexts.managementCluster[lang]} ${context || current}`,
    ...(names.length > 0 ? [`${screensTexts.businessClusters[lang]} ${names.join(', ')}`] : []),
  ];
}

/** A section without findings is one line; a section that could check nothing is skipped, never ok. */
function sectionLines(report: SectionReport, width: number, lang: Language): string[] {
  const title = padEnd(sectionTitles[report.section][lang], width);
  const findings = problemsIn([report]);
  if (findings.length === 0) {
    const isChecked = report.checks > 0 || report.skipped.length === 0;
    const word = padEnd(words[isChecked ? 'ok' : 'skip'][lang], 4);
    const [missing] = report.skipped;
    const text = isChecked || !missing ? report.summary : missingText(missing);
    return [`${title}  ${word}  ${printable(text[lang])}`];
  }
  const lines = findingRows(findings, lang);
  const indent = ' '.repeat(width);
  return lines.flatMap(({ head, next }, at) => [
    `${at === 0 ? title : indent}  ${head}`,
    ...(next === '' ? [] : [`${indent}        ${words.next[lang]} ${printable(next)}`]),
  ]);
}

function findingRows(findings: readonly Finding[], lang: Language) {
  const heads = aligned(
    findings.map(({ severity, subject, reason, evidence }) =>
      [padEnd(severityWord(severity, lang), 4), subject, reason, evidence[lang]].map(printable),
    ),
  ).split('\n');
  return findings.map(({ next }, at) => ({
    head: heads[at] ?? '',
    next: next ? nextLine(next, lang) : '',
  }));
}

function summaryLine({ sections, seconds }: DoctorPage, lang: Language): string {
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
