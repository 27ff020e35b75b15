import { Command } from 'commander';
import type { UnreadSource } from '../../explain/conclusion.ts';
import type { SectionReport } from '../../explain/finding.ts';
import { problemsIn, unreadIn } from '../../explain/findings.ts';
import { readExamination } from '../../session/examination.ts';
import { isNothingRead } from '../../session/facts/system-facts.ts';
import { inContextOf, sourcesInContext } from '../../session/in-context.ts';
import type { EndWith } from '../exit-status.ts';
import { type FailOn, withCommonOptions, withFailOn } from '../options.ts';
import { listsOf } from '../output/findings.ts';
import { print, reportText } from '../output/print.ts';
import type { PreflightOptions } from '../preflight/preflight.ts';
import { WrongUsage } from '../refusal.ts';
import { withSession } from '../run-command.ts';
import { doctorText } from './screen.ts';

interface Options extends PreflightOptions {
  readonly failOn: FailOn;
  readonly pre?: boolean;
}

/** `multinic doctor`: all checks of the system; findings with evidence and next step. */
export function doctorCommand(endWith: EndWith): Command {
  const command = new Command('doctor')
    .description('runs all checks; shows findings with evidence and next step')
    .option('--pre', 'examine clusters and cloud before an installation; writes nothing')
    .option('--cloud <path>', 'with --pre: clouds.yaml with one cloud, for login and lists')
    .option('--node <name>', 'with --pre: one Node only, NODE or PROVIDER/NODE')
    .option(
      '--print-request',
      'with --pre, --node and --cloud: print the request for a dry run of the agent',
    )
    .action((options: Options) => examineBy(options, endWith));
  return withFailOn(withCommonOptions(command, ['table', 'json', 'yaml']));
}

function examineBy(options: Options, endWith: EndWith): Promise<void> {
  const { pre = false, cloud, node, printRequest } = options;
  if (pre) return beforeInstall(options, endWith);
  const isOfPre = cloud !== undefined || node !== undefined || printRequest === true;
  if (!isOfPre) return doctor(options, endWith);
  throw new WrongUsage('--cloud, --node and --print-request belong to --pre', 'add --pre');
}

/** Loads the checks before an installation with their OpenStack client only on demand. */
async function beforeInstall(options: Options, endWith: EndWith): Promise<void> {
  const { preflight, preflightText, printedRequest } = await import('../preflight/preflight.ts');
  await withSession(options, async ({ session }) => {
    if (options.printRequest === true) {
      print(await printedRequest(session, options));
      return;
    }
    const started = session.clock.monotonicMs();
    const sections = inContextOf(await preflight(session, options), options);
    const seconds = (session.clock.monotonicMs() - started) / 1_000;
    const unread = sourcesInContext(unreadIn(sections), options);
    show({ sections, unread, kind: 'Preflight' }, options, () =>
      preflightText({ sections, unread, seconds }, options),
    );
    const severities = problemsIn(sections).map(({ severity }) => severity);
    const isFailed = sections.every(({ checks }) => checks === 0);
    endWith({ isFailed, severities, unread }, options);
  });
}

interface Examination {
  readonly kind: string;
  readonly sections: readonly SectionReport[];
  readonly unread: readonly UnreadSource[];
}

/** Prints a report as JSON or YAML, or the page. */
function show(
  { kind, sections, unread }: Examination,
  { output, lang }: Options,
  text: () => string,
): void {
  if (output !== 'json' && output !== 'yaml') {
    print(text());
    return;
  }
  const items = sections.map(({ section, conclusion, checks, summary }) => ({
    section,
    conclusion,
    checks,
    summary: summary[lang],
  }));
  print(reportText({ kind, items, ...listsOf(sections, unread, lang) }, output));
}

async function doctor(options: Options, endWith: EndWith): Promise<void> {
  await withSession(options, async ({ session }) => {
    const examination = await readExamination(session, options.namespace);
    const { facts, inventory, sections, unread, seconds } = examination;
    show({ sections, unread, kind: 'Doctor' }, options, () =>
      doctorText({ facts, inventory, sections, unread, options, seconds }, options.lang),
    );
    const severities = problemsIn(sections).map(({ severity }) => severity);
    endWith({ isFailed: isNothingRead(facts), severities, unread }, options);
  });
}
