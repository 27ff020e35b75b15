import { Command } from 'commander';
import { missingOf } from '../../explain/conclusion.ts';
import { examine } from '../../explain/examine.ts';
import { isNothingRead, readSystem } from '../../session/facts/system-facts.ts';
import type { EndWith } from '../exit-status.ts';
import { type CommonOptions, type FailOn, withCommonOptions, withFailOn } from '../options.ts';
import { inContextOf, listsOf, optionalIn, problemsIn, unreadIn } from '../output/findings.ts';
import { sourcesInContext } from '../output/in-context.ts';
import { print, reportText } from '../output/print.ts';
import { withSession } from '../run-command.ts';
import { readInventoryState } from './inventory-state.ts';
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
    const [facts, inventory] = await Promise.all([
      readSystem(session, options.namespace),
      readInventoryState(session),
    ]);
    const sections = inContextOf(examine(facts), options);
    const findings = problemsIn(sections);
    const unread = sourcesInContext(unreadIn(sections, missingOf(inventory)), options);
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
