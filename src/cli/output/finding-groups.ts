import { rowOf } from '../../api/reasons.ts';
import { screensTexts } from '../../api/texts/screens.ts';
import { filled, type Language } from '../../api/texts/text.ts';
import { words } from '../../api/texts/titles.ts';
import { multinic } from '../../explain/commands.ts';
import { type Finding, preflightSections, type Severity } from '../../explain/finding.ts';
import { groupedByCause } from '../../explain/findings.ts';
import { aligned } from './table.ts';
import { padEnd, printable } from './width.ts';
import { nextLine } from './wording.ts';

/** Lines for a finding. */
interface FindingRow {
  readonly head: string;
  readonly below: readonly string[];
}

/** Shown findings per reason: 5,000 nodes with the same cause fit on a page. */
const shownFindings = 3;

/** Returns the first findings per reason as lines, and how to list all findings. */
export function findingRows(
  findings: readonly Finding[],
  lang: Language,
  complete: (command: string) => string,
): FindingRow[] {
  const rows = groupedByCause(findings).flatMap((group) => rowsOf(group, lang, complete));
  const heads = aligned(rows.map(({ cells }) => cells.map(printable))).split('\n');
  return rows.map(({ below }, at) => ({ head: heads[at] ?? '', below: below.map(printable) }));
}

interface Row {
  readonly cells: readonly string[];
  readonly below: readonly string[];
}

function rowsOf(
  group: readonly Finding[],
  lang: Language,
  complete: (command: string) => string,
): Row[] {
  const shown = group.slice(0, shownFindings);
  const nexts = shown.map(({ next }) => (next ? nextOf(nextLine(next, lang), lang) : ''));
  const isSame = new Set(nexts).size === 1;
  const last = shown.length - 1;
  return shown.map(({ severity, subject, reason, evidence }, at) => {
    const isShown = nexts[at] !== '' && (!isSame || at === last);
    return {
      cells: [padEnd(severityWord(severity, lang), 4), subject, reason, evidence[lang]],
      below: [
        ...(isShown ? [nexts[at] ?? ''] : []),
        ...(at === last ? moreLines(group, lang, complete) : []),
      ],
    };
  });
}

function nextOf(text: string, lang: Language): string {
  return `${words.next[lang]} ${text}`;
}

function moreLines(
  group: readonly Finding[],
  lang: Language,
  complete: (command: string) => string,
): string[] {
  const [first] = group;
  const count = group.length - shownFindings;
  if (first === undefined || count <= 0) return [];
  const { reason } = first;
  const command = complete(listOf(first));
  return [filled(screensTexts.moreFindings, { count, all: group.length, reason, command })[lang]];
}

/** Returns a command to list all subjects with the reason. */
function listOf({ section, reason, severity }: Finding): string {
  const scope = section === 'nodes' && severity === 'error' ? rowOf(reason)?.scope : undefined;
  if (scope === 'nic') return multinic('nics', '--reason', reason);
  if (scope === 'node' || reason === 'Drifted') return multinic('nodes', '--reason', reason);
  const isPreflight = preflightSections.some((each) => each === section);
  return multinic('doctor', ...(isPreflight ? ['--pre'] : []), '-o', 'json');
}

function severityWord(severity: Severity, lang: Language): string {
  const word = { error: words.fail, warning: words.warn, info: words.info }[severity];
  return word[lang];
}
