import type { PlanView } from '../../api/read-http.ts';
import { screensTexts } from '../../api/texts/screens.ts';
import { amount, filled, type Language, type Wording } from '../../api/texts/text.ts';
import { printable } from '../output/width.ts';

type NicChange = PlanView['nodes'][number]['nics'][number];

/** Returns the lines below the changes: sums, Viola's dry run, scope and hash of the plan. */
export function summaryLines(plan: PlanView, lang: Language): string[] {
  return [
    ...sumLines(plan, lang),
    ...rolloutLines(plan, lang),
    ...dryRunLines(plan, lang),
    ...networkLines(plan, lang),
    ...noteLines(plan, lang),
  ];
}

function sumLines({ nodes, unchanged, agentJobs, problems }: PlanView, lang: Language): string[] {
  const nics = nodes.flatMap((node) => node.nics);
  const count = (change: NicChange['change']) => nics.filter((nic) => nic.change === change).length;
  const changing = nodes.filter(({ action }) => action !== 'none').length;
  const all = changing + unchanged;
  const [added, changed, removed] = [count('add'), count('change'), count('remove')];
  const on = amount(all, 'node');
  if (changing === 0) return [unchangedLine(on, problems.length, lang)];
  const counts = { added: amount(added, 'NIC'), changed, removed, changing, nodes: on };
  const jobs = amount(agentJobs, 'agent Job');
  return [filled(screensTexts.changes, { ...counts, jobs })[lang]];
}

/** Returns a line per change that the controller applies in steps. */
function rolloutLines({ rollouts = [] }: PlanView, lang: Language): string[] {
  return rollouts.map(({ nodes, changes, steps }) => {
    const named = changes.map(({ subnet, fields }) =>
      filled(screensTexts.changesOfSubnet, { fields: fields.join(', '), subnet }),
    );
    const [first = 0, ...others] = steps;
    const counts = {
      nodes: amount(nodes, 'node'),
      first: amount(first, 'node'),
      others: joined(others.map((size) => filled(screensTexts.nextStep, { size }))),
    };
    const line =
      named.length === 0
        ? filled(screensTexts.rolloutOfGeneration, counts)
        : filled(screensTexts.rolloutOfSettings, { ...counts, changes: joined(named, '; ') });
    return printable(line[lang]);
  });
}

function joined(list: readonly Wording[], separator = ''): Wording {
  return {
    en: list.map(({ en }) => en).join(separator),
    ko: list.map(({ ko }) => ko).join(separator),
  };
}

function unchangedLine(nodes: Wording, problems: number, lang: Language): string {
  if (problems === 0) return filled(screensTexts.noChanges, { nodes })[lang];
  const count = amount(problems, 'problem');
  return filled(screensTexts.problemsOnly, { problems: count, nodes })[lang];
}

function dryRunLines({ dryRun, nodes }: PlanView, lang: Language): string[] {
  if (dryRun === undefined) return [];
  if (!dryRun.validated) {
    const text = screensTexts.notValidated[lang];
    return [`${text}: ${printable(dryRun.message)}`];
  }
  const { results = [], errors = [] } = dryRun.answer ?? {};
  const sent = { accepted: results.length, nodes: amount(results.length + errors.length, 'node') };
  const deleted = nodes.filter(({ action }) => action === 'delete').length;
  return [
    ...(results.length + errors.length > 0 ? [filled(screensTexts.dryRun, sent)[lang]] : []),
    ...(deleted > 0
      ? [filled(screensTexts.noDryRunOfDeletions, { nodes: amount(deleted, 'node') })[lang]]
      : []),
    ...errors.map(({ nodeName, field, message }) =>
      printable(`! ${nodeName}${field ? ` ${field}` : ''}: ${message}`),
    ),
  ];
}

function networkLines({ networks }: PlanView, lang: Language): string[] {
  if (networks !== undefined) return [];
  return [screensTexts.networksUnknown[lang]];
}

function noteLines({ hash }: PlanView, lang: Language): string[] {
  const short = hash.slice(0, 8);
  return [screensTexts.kernelNotRead[lang], filled(screensTexts.planHash, { hash: short })[lang]];
}
