import type { ScreenAnswer } from '../../api/dashboard/screens.ts';
import { dashboardTexts } from '../../api/texts/dashboard-screens.ts';
import { multinic } from '../../explain/commands.ts';
import type { Finding } from '../../explain/finding.ts';
import { countsIn, problemsIn } from '../../explain/findings.ts';
import type { AccessOptions } from '../../session/access/options.ts';
import type { Examination } from '../../session/examination.ts';
import { inContext } from '../../session/in-context.ts';
import { gapsOfExamination } from './fleet.ts';
import { shownGroups } from './shown-findings.ts';

/** Returns all sections of an examination. */
export function doctorOf(examination: Examination, options: AccessOptions): ScreenAnswer<'doctor'> {
  const { facts, sections, seconds } = examination;
  return {
    ...gapsOfExamination(examination),
    counts: countsIn(problemsIn(sections)),
    sections: sections.map(({ section, conclusion, checks, summary, findings }) => ({
      section,
      conclusion,
      checks,
      summary,
      findings: shownGroups(byRank(findings), facts),
    })),
    seconds,
    bundle: inContext(writeBundle, options, undefined),
  };
}

const writeBundle = {
  text: dashboardTexts.writeBundle,
  commands: [multinic('support-bundle')],
  preview: [],
};

/** Returns errors, then warnings, then information. */
function byRank(findings: readonly Finding[]): Finding[] {
  return (['error', 'warning', 'info'] as const).flatMap((rank) =>
    findings.filter(({ severity }) => severity === rank),
  );
}
