import { Command } from 'commander';
import type { Language } from '../../api/texts/text.ts';
import { unreadSources } from '../../explain/conclusion.ts';
import type { Explanation } from '../../explain/explain-port.ts';
import type { Severity } from '../../explain/finding.ts';
import type { Step, StepResult } from '../../explain/step.ts';
import { explanationInContext } from '../../session/examination.ts';
import { readPortFacts } from '../../session/facts/port-facts.ts';
import { sourcesInContext } from '../../session/in-context.ts';
import type { EndWith } from '../exit-status.ts';
import { type CommonOptions, type FailOn, withCommonOptions, withFailOn } from '../options.ts';
import { incompleteObjects } from '../output/incomplete.ts';
import { print, reportText } from '../output/print.ts';
import type { Skipped } from '../report.ts';
import { withSession } from '../run-command.ts';
import { whyPage } from './screen.ts';
import { subjectsOf, targetOf } from './target.ts';

interface Options extends CommonOptions {
  readonly failOn: FailOn;
}

/** `multinic why TARGET`: the first thing that is wrong with a port, from Neutron to the boot files. */
export function whyCommand(endWith: EndWith): Command {
  const command = new Command('why')
    .description('explains why a port is a NIC or not; names the first failed step and what to do')
    .argument('<target>', 'port id, MAC, address, NODE/NIC or server')
    .action((target: string, options: Options) => why(target, options, endWith));
  return withFailOn(withCommonOptions(command, ['table', 'json', 'yaml']));
}

async function why(text: string, options: Options, endWith: EndWith): Promise<void> {
  const target = targetOf(text);
  await withSession(options, async ({ session }) => {
    const subjects = await subjectsOf(session, target);
    const facts = await Promise.all(subjects.map((subject) => readPortFacts(session, subject)));
    const explanations = facts.map((each) => explanationInContext(each, options));
    const { output, lang } = options;
    const unread = sourcesInContext(
      unreadSources(explanations.flatMap(({ missing }) => missing)),
      options,
    );
    if (output === 'json' || output === 'yaml') {
      const incomplete = incompleteObjects(unread, lang);
      print(reportText({ ...reportOf(explanations, lang), incomplete }, output));
    } else {
      print(whyPage(explanations, unread, lang));
    }
    const isFailed = explanations.every(({ steps }) => steps.every(isOpen));
    endWith({ isFailed, severities: severitiesIn(explanations), unread }, options);
  });
}

/** True if a step says nothing about the port: without any other step nothing is explained. */
function isOpen({ result }: Step): boolean {
  return result !== 'ok' && result !== 'info' && result !== 'fail';
}

const severities: Readonly<Partial<Record<StepResult, Severity>>> = {
  fail: 'error',
  warn: 'warning',
};

function severitiesIn(explanations: readonly Explanation[]): Severity[] {
  return explanations.flatMap(({ steps }) =>
    steps.flatMap(({ result }) => severities[result] ?? []),
  );
}

function reportOf(explanations: readonly Explanation[], lang: Language) {
  const steps = explanations.flatMap((each) => each.steps);
  return {
    kind: 'Why',
    items: explanations.map(({ headline, conclusion, steps: own, answer }) => ({
      headline: headline[lang],
      conclusion,
      answer: answer?.name,
      reason: answer?.reason,
      steps: own.map((step) => stepObject(step, lang)),
    })),
    findings: steps
      .filter(({ result }) => result === 'fail' || result === 'warn')
      .map((step) => stepObject(step, lang)),
    skipped: steps
      .filter(({ result }) => result === 'skipped')
      .map((step) => skippedOf(step, lang)),
  };
}

function stepObject({ name, result, reason, evidence, next }: Step, lang: Language): object {
  const { text, commands = [], preview = [] } = next ?? {};
  return {
    step: name,
    result,
    reason,
    evidence: evidence[lang],
    next: text?.[lang],
    commands,
    preview,
  };
}

function skippedOf({ name, evidence, next }: Step, lang: Language): Skipped {
  return { what: name, why: evidence[lang], ...(next ? { next: next.text[lang] } : {}) };
}
