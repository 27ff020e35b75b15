import type { NicView, NodeView } from '../../api/read-http.ts';
import { existingNicsTexts } from '../../api/texts/existing-nics.ts';
import { screensTexts } from '../../api/texts/screens.ts';
import { filled, type Language } from '../../api/texts/text.ts';
import { words } from '../../api/texts/titles.ts';
import { foundTexts } from '../../explain/found-texts.ts';
import { isRefused, wouldChange } from '../../explain/obstacles.ts';
import { isFileChange, type PendingChanges } from '../../explain/pending-changes.ts';
import type { NextStep } from '../../explain/step.ts';
import { isObserved } from '../../explain/subject.ts';
import { ageOf } from '../../explain/wording.ts';
import { skippedLines } from '../output/findings.ts';
import { nextStepLines } from '../output/next-step.ts';
import { printable } from '../output/width.ts';
import type { Skipped } from '../report.ts';
import { problemsOf } from '../sync/node-problems.ts';

export interface DiffPage {
  readonly node: NodeView;
  /** NICs that an apply would change. */
  readonly pending: readonly PendingChanges[];
  readonly skipped: readonly Skipped[];
  /** Command that applies what differs once. */
  readonly heal: string;
  /** Command that explains the problems. */
  readonly why: string;
  /** Next steps for an observed node; empty: the node is not observed, or equals the plan. */
  readonly next: readonly NextStep[];
  readonly now: Date;
}

/** Returns the differences per NIC, a change per line. */
export function diffText(page: DiffPage, lang: Language): string {
  const { node, skipped } = page;
  const lines = [
    ...headLines(page, lang),
    '',
    ...nicLines(page, lang),
    ...(node.drifted && !isObserved(node) ? healLines(page, lang) : []),
    ...(problemsOf(node).length > 0 ? ['', `${words.next[lang]} ${page.why}`] : []),
    ...page.next.flatMap((step) => ['', ...nextStepLines(step, lang)]),
  ].map((line) => printable(line));
  return [...lines, ...(skipped.length > 0 ? ['', ...skippedLines(skipped, lang)] : [])].join('\n');
}

function headLines({ node, pending, now }: DiffPage, lang: Language): string[] {
  const { config, nics } = node;
  return [
    headline(node, now, lang),
    ...(isObserved(node) ? [filled(existingNicsTexts.onlyObserved, { config })[lang]] : []),
    ...(nics.some(({ found }) => found !== undefined) ? [existingNicsTexts.foundTitle[lang]] : []),
    ...(pending.length > 0 ? [screensTexts.wouldBeApplied[lang]] : []),
  ];
}

function headline({ nodeName, object, checkedAt }: NodeView, now: Date, lang: Language): string {
  const job = object?.lastJobName === undefined ? '' : ` (Job ${object.lastJobName})`;
  const age = ageOf(checkedAt, now);
  return filled(screensTexts.nodeCheckedAgo, { nodeName, age, job })[lang];
}

/** Returns pending changes, then NICs that an apply would refuse, problems, and NICs without difference. */
function nicLines({ node, pending }: DiffPage, lang: Language): string[] {
  const { nics } = node;
  const foundOf = (name: string) =>
    nics.filter((nic) => nic.name === name).flatMap((nic) => foundLines(nic, lang));
  const refused = nics.filter(isRefused);
  const further = nics.filter(
    (nic) => nic.state === 'Observed' && !isRefused(nic) && !wouldChange(nic),
  );
  // No apply corrects these.
  const problems = problemsOf(node);
  const named = new Set([
    ...pending.map(({ nic }) => nic),
    ...[...refused, ...further, ...problems].map(({ name }) => name),
  ]);
  // A problem of the whole node leaves the other NICs unknown.
  const isKnown = problems.every(({ isNode }) => !isNode);
  const same = nics.filter(({ name }) => isKnown && !named.has(name));
  return [
    ...pending.flatMap((changes) => changeLines(changes, foundOf(changes.nic), lang)),
    ...refused.flatMap((nic) => refusedLines(nic, lang)),
    ...further.flatMap((nic) => [`${nic.name}: ${nic.message}`, ...foundLines(nic, lang)]),
    ...problems.flatMap(({ name, text }) => [`${name}: ${text}`, ...foundOf(name)]),
    ...sameLines(same, lang),
  ];
}

/** Returns a line for NICs without difference; a NIC with foreign configuration has lines of its own. */
function sameLines(same: readonly NicView[], lang: Language): string[] {
  const none = screensTexts.noDifference[lang];
  const plain = same.filter((nic) => foundLines(nic, lang).length === 0).map(({ name }) => name);
  return [
    ...(plain.length > 0 ? [`${plain.join(', ')}: ${none}`] : []),
    ...same.flatMap((nic) => {
      const found = foundLines(nic, lang);
      return found.length > 0 ? [`${nic.name}: ${none}`, ...found] : [];
    }),
  ];
}

function foundLines(nic: Pick<NicView, 'found'>, lang: Language): string[] {
  return foundTexts(nic).map((text) => `  - ${text[lang]}`);
}

function changeLines(
  { nic, lines, complete }: PendingChanges,
  found: readonly string[],
  lang: Language,
): string[] {
  const more = screensTexts.andMore[lang];
  const changes = lines.map((line) => `  + ${timed(line, lang)}`);
  return [nic, ...found, ...changes, ...(complete ? [] : [more])];
}

/** Marks changes without an effect in the kernel now. */
function timed(line: string, lang: Language): string {
  return isFileChange(line) ? filled(existingNicsTexts.atNextBoot, { line })[lang] : line;
}

function refusedLines(nic: NicView, lang: Language): string[] {
  const text = [nic.reason, nic.message].filter((part) => part !== '').join(': ');
  const refuses = `  ${existingNicsTexts.applyRefuses[lang]}`;
  return [`${nic.name}: ${text}`, ...foundLines(nic, lang), refuses];
}

function healLines({ heal }: DiffPage, lang: Language): string[] {
  return ['', filled(screensTexts.applyOnce, { next: words.next })[lang], `  ${heal}`];
}
