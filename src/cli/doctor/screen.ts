import { screensTexts } from '../../api/texts/screens.ts';
import { amount, filled, type Wording } from '../../api/texts/text.ts';
import { sectionTitles, words } from '../../api/texts/titles.ts';
import { type Fact, missingText } from '../../explain/fact.ts';
import type { SystemFacts } from '../../explain/facts.ts';
import type { SectionReport } from '../../explain/finding.ts';
import { joined } from '../../explain/wording.ts';
import type { AccessOptions, Language } from '../options.ts';
import { findingRows } from '../output/finding-groups.ts';
import {
  answerLines,
  mergedByCause,
  optionalIn,
  problemsIn,
  unreadIn,
} from '../output/findings.ts';
import { commandInContext } from '../output/in-context.ts';
import { displayWidth, padEnd, printable } from '../output/width.ts';
import type { InventoryState } from '../status/inventory-state.ts';
import { versionLine } from '../status/screen.ts';

export interface DoctorPage {
  readonly facts: SystemFacts;
  /** Absent: not requested. */
  readonly inventory?: Fact<InventoryState>;
  readonly sections: readonly SectionReport[];
  readonly options: Pick<AccessOptions, 'businessContext' | 'context' | 'kubeconfig'>;
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
  const form: Form = {
    width,
    lang,
    complete: (command) => commandInContext(command, page.options),
  };
  const answer = answerLines(problemsIn(sections), unreadIn(sections), lang);
  return [
    ...answer,
    ...(answer.length > 0 ? [''] : []),
    versionLine(facts, lang, page.inventory),
    ...clusterLines(page, lang),
    '',
    ...sections.flatMap((section) => sectionLines(section, form)),
    ...infos.map(({ subject, evidence }) =>
      row(words.info[lang], `${subject}: ${evidence[lang]}`, width),
    ),
    ...mergedByCause(optionalIn(sections, lang)).flatMap(({ what, why, next }) => [
      row(words.skip[lang], `${what}: ${why}`, width),
      ...(next === undefined ? [] : [row('', `${words.next[lang]} ${next}`, width)]),
    ]),
    '',
    summaryLine(page, lang),
  ].join('\n');
}

function row(word: string, text: string, width: number): string {
  return `${padEnd(word, width)}        ${printable(text)}`;
}

function clusterLines({ facts, options }: DoctorPage, lang: Language): string[] {
  const { businessContext, context = '' } = options;
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
