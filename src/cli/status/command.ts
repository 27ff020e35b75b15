import { Command } from 'commander';
import { problemsIn } from '../../explain/findings.ts';
import { readExamination } from '../../session/examination.ts';
import { isNothingRead } from '../../session/facts/system-facts.ts';
import type { EndWith } from '../exit-status.ts';
import { type CommonOptions, type FailOn, withCommonOptions, withFailOn } from '../options.ts';
import { listsOf, optionalIn } from '../output/findings.ts';
import { print, reportText } from '../output/print.ts';
import { withSession } from '../run-command.ts';
import { itemsOf, statusText } from './screen.ts';

interface Options extends CommonOptions {
  readonly failOn: FailOn;
}

/** `multinic status`: health of all parts, OpenstackConfigs, business clusters and findings, on one page. */
export function statusCommand(endWith: EndWith): Command {
  const command = new Command('status')
    .description(
      'health of all parts, OpenstackConfigs, business clusters and findings, on one page',
    )
    .action((options: Options) => status(options, endWith));
  return withFailOn(withCommonOptions(command, ['table', 'wide', 'json', 'yaml']));
}

async function status(options: Options, endWith: EndWith): Promise<void> {
  await withSession(options, async ({ session }) => {
    const examination = await readExamination(session, options.namespace);
    const { facts, inventory, sections, unread } = examination;
    const findings = problemsIn(sections);
    const { output, lang } = options;
    if (output === 'json' || output === 'yaml') {
      const lists = listsOf(sections, unread, lang);
      print(reportText({ kind: 'Status', items: itemsOf(facts), ...lists }, output));
    } else {
      const skipped = optionalIn(sections, lang);
      print(statusText({ facts, inventory, findings, unread, skipped }, options));
    }
    const severities = findings.map(({ severity }) => severity);
    endWith({ isFailed: isNothingRead(facts), severities, unread }, options);
  });
}
