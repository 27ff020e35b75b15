import type { ScreenAnswer } from '../../api/dashboard/screens.ts';
import { filled } from '../../api/texts/text.ts';
import { sectionTitles } from '../../api/texts/titles.ts';
import { hrefOf } from '../place/links.ts';
import { number, quantity } from '../words/format.ts';
import { say } from '../words/language.ts';
import { pageTexts } from '../words/page-texts.ts';
import { screenTexts } from '../words/screen-texts.ts';
import { NextStep } from './next-step.tsx';
import { Name, NameLink, Sign, Words } from './texts.tsx';

type Group = ScreenAnswer<'fleet'>['findings'][number];

/** Findings by cause: an entry per reason, with the subjects folded. */
export function Findings({ groups }: { readonly groups: readonly Group[] }) {
  return (
    <ul class="findings">
      {groups.map((group) => (
        <li key={`${group.section}/${group.reason}/${group.severity}`}>
          <FindingGroup group={group} />
        </li>
      ))}
    </ul>
  );
}

function FindingGroup({ group }: { readonly group: Group }) {
  const { severity, reason, section, count, nics, findings, next } = group;
  const [first] = findings;
  const rest = count - findings.length;
  return (
    <details open={count === 1}>
      <summary>
        <Sign of={severity} /> <strong>{reason}</strong>{' '}
        <span class="quiet">
          {[sectionTitleOf(section), sizeOf(count, nics)].filter((text) => text !== '').join(' · ')}
        </span>
        {first && (
          <span class="first">
            <Name value={first.subject} />
          </span>
        )}
      </summary>
      <ul>
        {findings.map(({ subject, link, evidence, next: own }) => (
          <li key={`${subject} ${evidence.en}`}>
            <NameLink value={subject} href={hrefOf(link)} /> <Words text={evidence} />
            <NextStep step={own} />
          </li>
        ))}
      </ul>
      {rest > 0 && <p class="quiet">{say(filled(pageTexts.more, { count: number(rest) }))}</p>}
      <NextStep step={next} />
    </details>
  );
}

/** Returns a section's title; a later server's section stays as received. */
export function sectionTitleOf(section: string): string {
  const titles: Readonly<Record<string, { en: string; ko: string }>> = sectionTitles;
  return say(titles[section] ?? { en: section, ko: section });
}

function sizeOf(count: number, nics: number): string {
  const findings = filled(screenTexts.findingsOfGroup, { findings: quantity(count, 'finding') });
  if (nics <= 1) return count === 1 ? '' : say(findings);
  return `${say(findings)}, ${say(filled(screenTexts.nicsOfGroup, { nics: quantity(nics, 'NIC') }))}`;
}

/** Returns "2 errors · 1 warning". */
export function countsText({ errors, warnings }: ScreenAnswer<'fleet'>['counts']): string {
  const values = { errors: quantity(errors, 'error'), warnings: quantity(warnings, 'warning') };
  return say(filled(screenTexts.counts, values));
}
