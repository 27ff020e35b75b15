import { screensTexts } from '../../api/texts/screens.ts';
import type { Wording } from '../../api/texts/text.ts';
import { stepTitles, words } from '../../api/texts/titles.ts';
import type { Explanation } from '../../explain/explain-port.ts';
import type { Step, StepResult } from '../../explain/step.ts';
import type { Language } from '../options.ts';
import { displayWidth, padEnd, printable } from '../output/width.ts';

const results: Readonly<Record<Exclude<StepResult, 'notReached'>, Wording>> = {
  ok: words.ok,
  info: words.info,
  warn: words.warn,
  fail: words.fail,
  skipped: words.skip,
};

/** Returns headline, steps and the next step. */
export function whyText({ headline, steps, answer }: Explanation, lang: Language): string {
  const warning = steps.find(({ result }) => result === 'warn');
  return [
    printable(headline[lang]),
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
  return groups(steps).map((group) => {
    const [first, last] = [group[0]?.number ?? 0, group.at(-1)?.number ?? 0];
    const number = first === last ? String(first).padStart(2) : ` ${first}-${last}`;
    const [step] = group.map((each) => each.step);
    if (!step || step.result === 'notReached') {
      const names = group.map((each) => stepTitles[each.step.name][lang]).join(', ');
      return `${padEnd(number, width + 6)}${screensTexts.stepNotReached[lang]}: ${names}`;
    }
    const head = `${number}  ${padEnd(stepTitles[step.name][lang], width)}  ${padEnd(results[step.result][lang], 4)}`;
    return `${head}  ${evidence(printable(step.evidence[lang]), width + 12)}`.trimEnd();
  });
}

interface Numbered {
  readonly step: Step;
  readonly number: number;
}

/** Joins consecutive steps that were not reached. */
function groups(steps: readonly Step[]): Numbered[][] {
  const all: Numbered[][] = [];
  for (const [at, step] of steps.entries()) {
    const last = all.at(-1);
    const isOpen = step.result === 'notReached' && last?.[0]?.step.result === 'notReached';
    if (last && isOpen) last.push({ step, number: at + 1 });
    else all.push([{ step, number: at + 1 }]);
  }
  return all;
}

/** Breaks long evidence after semicolons, below its first word. */
function evidence(text: string, indent: number): string {
  return displayWidth(text) <= 100 ? text : text.replaceAll('; ', `;\n${' '.repeat(indent)}`);
}

function nextLines(step: Step | undefined, lang: Language): string[] {
  if (!step?.next) return [];
  const { text, commands, preview } = step.next;
  return [
    '',
    `${words.next[lang]} ${printable(text[lang])}`,
    ...commands.map((command) => `  ${printable(command)}`),
    ...(preview.length > 0 ? [words.preview[lang]] : []),
    ...preview.map((command) => `  ${printable(command)}`),
  ];
}

/** Names how to supply each missing fact, once. */
function skippedNext(steps: readonly Step[], lang: Language): string[] {
  const missing = steps.filter(({ result }) => result === 'skipped');
  const texts = new Set(missing.flatMap(({ next }) => (next ? [next.text[lang]] : [])));
  const title = screensTexts.checkSkipped[lang];
  return texts.size === 0 ? [] : ['', title, ...[...texts].map((text) => `  ${printable(text)}`)];
}
