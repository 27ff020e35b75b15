import { Command } from 'commander';
import { examine } from '../../explain/examine.ts';
import type { EndWith } from '../exit-status.ts';
import { isNothingRead, readSystem } from '../facts/system-facts.ts';
import { type CommonOptions, type FailOn, withCommonOptions, withFailOn } from '../options.ts';
import { inContextOf, listsOf, problemsIn, unreadIn } from '../output/findings.ts';
import { print, reportText } from '../output/print.ts';
import { withSession } from '../run-command.ts';
import { readInventoryState } from '../status/inventory-state.ts';
import { doctorText } from './screen.ts';

interface Options extends CommonOptions {
  readonly failOn: FailOn;
}

/** `multinic doctor`: all checks of the system; findings with evidence and next step. */
export function doctorCommand(endWith: EndWith): Command {
  const command = new Command('doctor')
    .description('runs all checks; shows findings with evidence and next step')
    .action((options: Options) => doctor(options, endWith));
  return withFailOn(withCommonOptions(command, ['table', 'json', 'yaml']));
}

async function doctor(options: Options, endWith: EndWith): Promise<void> {
  await withSession(options, async ({ session }) => {
    const started = session.clock.monotonicMs();
    const [facts, inventory] = await Promise.all([
      readSystem(session, options.namespace),
      readInventoryState(session),
    ]);
    const sections = inContextOf(examine(facts), options);
    const unread = unreadIn(sections);
    const { output, lang } = options;
    if (output === 'json' || output === 'yaml') {
      const items = sections.map(({ section, conclusion, checks, summary }) => ({
        section,
        conclusion,
        checks,
        summary: summary[lang],
      }));
      const lists = listsOf(sections, unread, lang);
      print(reportText({ kind: 'Doctor', items, ...lists }, output));
    } else {
      const seconds = (session.clock.monotonicMs() - started) / 1_000;
      print(doctorText({ facts, inventory, sections, options, seconds }, lang));
    }
    const severities = problemsIn(sections).map(({ severity }) => severity);
    endWith({ isFailed: isNothingRead(facts), severities, unread }, options);
  });
}
