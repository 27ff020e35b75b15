import { screensTexts } from '../../api/texts/screens.ts';
import type { Language, Wording } from '../../api/texts/text.ts';
import { stepTitles, words } from '../../api/texts/titles.ts';
import type { UnreadSource } from '../../explain/conclusion.ts';
import type { Explanation } from '../../explain/explain-port.ts';
import type { Step, StepResult } from '../../explain/step.ts';
import { incompleteLines } from '../output/incomplete.ts';
import { nextStepLines } from '../output/next-step.ts';
import { displayWidth, padEnd, printable } from '../output/width.ts';

const results: Readonly<Record<StepResult, Wording>> = {
  ok: words.ok,
  info: words.info,
  warn: words.warn,
  fail: words.fail,
  skipped: words.skip,
  notReached: screensTexts.stepNotReached,
};

/** Returns the explanations; required sources without an answer follow the first headline. */
export function whyPage(
  explanations: readonly Explanation[],
  unread: readonly UnreadSource[],
  lang: Language,
): string {
  return explanations.map((each, at) => whyText(each, at === 0 ? unread : [], lang)).join('\n\n');
}

/** Returns headline, steps and the next step. */
function whyText(
  { headline, steps, answer }: Explanation,
  unread: readonly UnreadSource[],
  lang: Language,
): string {
  const warning = steps.find(({ result }) => result === 'warn');
  return [
    printable(headline[lang]),
    ...incompleteLines(unread, lang),
    '',
    ...stepLines(steps, lang),
    ...nextLines(answer ?? warning, lang),
    ...skippedNext(steps, lang),
  ].join('\n');
}

function stepLines(steps: readonly Step[], lang: Language): string[] {
  const reached = steps.filter(({ result }) => result !== 'notReached');
  const titles = reached.map(({ name }) => displayWidth(stepTitles[name][lang]));
  const width = Math.max(lang === 'ko' ? 8 : 10, ...titles);
  return groups(steps).map((group) => groupLine(group, width, lang));
}

interface Numbered {
  readonly step: Step;
  readonly number: number;
}

type Group = readonly [Numbered, ...Numbered[]];

function groupLine(group: Group, width: number, lang: Language): string {
  const [{ step, number: first }] = group;
  const last = group.at(-1)?.number ?? first;
  const number = first === last ? String(first).padStart(2) : ` ${first}-${last}`;
  const without = withoutResult(step);
  if (without !== undefined) {
    const names = group.map((each) => stepTitles[each.step.name][lang]).join(', ');
    return `${padEnd(number, width + 6)}${without[lang]}: ${names}`;
  }
  const head = `${number}  ${padEnd(stepTitles[step.name][lang], width)}  ${padEnd(results[step.result][lang], 4)}`;
  return `${head}  ${evidence(printable(step.evidence[lang]), width + 12)}`.trimEnd();
}

/** Returns the text for a step without result; undefined: the step shows a result or an optional unread fact. */
function withoutResult(step: Step): Wording | undefined {
  if (step.result === 'notReached') return screensTexts.stepNotReached;
  return isUnread(step) ? screensTexts.stepsNotExamined : undefined;
}

/** True for a step without result because a required source did not answer. */
function isUnread({ result, missing = [] }: Step): boolean {
  return result === 'skipped' && missing.some(({ required }) => required !== undefined);
}

/** Joins consecutive steps without result and with the same cause. */
function groups(steps: readonly Step[]): Group[] {
  const all: [Numbered, ...Numbered[]][] = [];
  for (const [at, step] of steps.entries()) {
    const last = all.at(-1);
    const without = withoutResult(step);
    const isSame = without !== undefined && last && withoutResult(last[0].step) === without;
    if (last && isSame) last.push({ step, number: at + 1 });
    else all.push([{ step, number: at + 1 }]);
  }
  return all;
}

/** Breaks long evidence after semicolons, below its first word. */
function evidence(text: string, indent: number): string {
  return displayWidth(text) <= 100 ? text : text.replaceAll('; ', `;\n${' '.repeat(indent)}`);
}

function nextLines(step: Step | undefined, lang: Language): string[] {
  return step?.next ? ['', ...nextStepLines(step.next, lang)] : [];
}

/** Names how to supply each missing fact, once. */
function skippedNext(steps: readonly Step[], lang: Language): string[] {
  const missing = steps.filter((step) => step.result === 'skipped' && !isUnread(step));
  const texts = new Set(missing.flatMap(({ next }) => (next ? [next.text[lang]] : [])));
  const title = screensTexts.checkSkipped[lang];
  return texts.size === 0 ? [] : ['', title, ...[...texts].map((text) => `  ${printable(text)}`)];
}
