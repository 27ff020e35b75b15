import type { NodeView } from '../../api/read-http.ts';
import { screensTexts } from '../../api/texts/screens.ts';
import { filled } from '../../api/texts/text.ts';
import { words } from '../../api/texts/titles.ts';
import { ageOf } from '../../explain/wording.ts';
import type { Language } from '../options.ts';
import { skippedLines } from '../output/findings.ts';
import { printable } from '../output/width.ts';
import type { Skipped } from '../report.ts';
import { problemsOf } from '../sync/node-problems.ts';
import type { PendingChanges } from './pending.ts';

export interface DiffPage {
  readonly node: NodeView;
  /** NICs with drift. */
  readonly pending: readonly PendingChanges[];
  readonly skipped: readonly Skipped[];
  /** Command that applies what differs once. */
  readonly heal: string;
  /** Command that explains the problems. */
  readonly why: string;
  readonly now: Date;
}

/** Returns the differences per NIC, a change per line. */
export function diffText(page: DiffPage, lang: Language): string {
  const { node, pending, skipped, heal, why, now } = page;
  const { nics, drifted } = node;
  // No apply corrects these.
  const problems = problemsOf(node);
  const named = new Set([...pending.map(({ nic }) => nic), ...problems.map(({ name }) => name)]);
  // A problem of the whole node leaves the other NICs unknown.
  const isKnown = problems.every(({ isNode }) => !isNode);
  const same = nics.map(({ name }) => name).filter((name) => isKnown && !named.has(name));
  const none = screensTexts.noDifference[lang];
  const next = filled(screensTexts.applyOnce, { next: words.next })[lang];
  const lines = [
    headline(node, now, lang),
    ...(drifted ? [screensTexts.wouldBeApplied[lang]] : []),
    '',
    ...pending.flatMap((changes) => linesOf(changes, lang)),
    ...problems.map(({ name, text }) => `${name}: ${text}`),
    ...(same.length > 0 ? [`${same.join(', ')}: ${none}`] : []),
    ...(drifted ? ['', next, `  ${heal}`] : []),
    ...(problems.length > 0 ? ['', `${words.next[lang]} ${why}`] : []),
  ].map((line) => printable(line));
  return [...lines, ...(skipped.length > 0 ? ['', ...skippedLines(skipped, lang)] : [])].join('\n');
}

function headline({ nodeName, object, checkedAt }: NodeView, now: Date, lang: Language): string {
  const job = object?.lastJobName === undefined ? '' : ` (Job ${object.lastJobName})`;
  const age = ageOf(checkedAt, now);
  return filled(screensTexts.nodeCheckedAgo, { nodeName, age, job })[lang];
}

function linesOf({ nic, lines, complete }: PendingChanges, lang: Language): string[] {
  const more = screensTexts.andMore[lang];
  return [nic, ...lines.map((line) => `  + ${line}`), ...(complete ? [] : [more])];
}
