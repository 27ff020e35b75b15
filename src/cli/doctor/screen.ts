import { screensTexts } from '../../api/texts/screens.ts';
import type { Language } from '../../api/texts/text.ts';
import type { UnreadSource } from '../../explain/conclusion.ts';
import type { Fact } from '../../explain/fact.ts';
import type { SystemFacts } from '../../explain/facts.ts';
import type { SectionReport } from '../../explain/finding.ts';
import { problemsIn } from '../../explain/findings.ts';
import { type AccessChoice, choiceOf } from '../../session/access/sources.ts';
import type { InventoryState } from '../../session/facts/inventory-state.ts';
import { answerLines } from '../output/findings.ts';
import { sectionsLines } from '../output/sections.ts';
import { versionLine } from '../status/screen.ts';

export interface DoctorPage {
  readonly facts: SystemFacts;
  /** Absent: not requested. */
  readonly inventory?: Fact<InventoryState>;
  readonly sections: readonly SectionReport[];
  /** Required sources without an answer. */
  readonly unread: readonly UnreadSource[];
  readonly options: AccessChoice;
  readonly seconds: number;
}

export function doctorText(page: DoctorPage, lang: Language): string {
  const { sections, facts } = page;
  const answer = answerLines(problemsIn(sections), page.unread, lang);
  return [
    ...answer,
    ...(answer.length > 0 ? [''] : []),
    versionLine(facts, lang, page.inventory),
    ...clusterLines(page, lang),
    '',
    ...sectionsLines(page, lang),
  ].join('\n');
}

function clusterLines({ facts, options }: DoctorPage, lang: Language): string[] {
  const { context = '' } = options;
  const clusters = facts.clusters.state === 'read' ? facts.clusters.value : [];
  const names = clusters.map(
    ({ providerId }) =>
      `${providerId} (${screensTexts[choiceOf(options, providerId) ? 'directAccess' : 'throughViola'][lang]})`,
  );
  const current = screensTexts.currentContext[lang];
  return [
    `${screensTexts.managementCluster[lang]} ${context || current}`,
    ...(names.length > 0 ? [`${screensTexts.businessClusters[lang]} ${names.join(', ')}`] : []),
  ];
}
