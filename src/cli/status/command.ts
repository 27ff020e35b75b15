import { Command } from 'commander';
import { examine } from '../../explain/examine.ts';
import { type EndWith, exit } from '../exit-status.ts';
import { isNothingRead, readSystem } from '../facts/system-facts.ts';
import { type CommonOptions, type FailOn, withCommonOptions, withFailOn } from '../options.ts';
import { findingObject, inContextOf, isFailed, problemsIn, skippedIn } from '../output/findings.ts';
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
    const { output, lang } = options;
    const skipped = skippedIn(sections, lang);
    if (output === 'json' || output === 'yaml') {
      const objects = findings.map((finding) => findingObject(finding, lang));
      const items = itemsOf(facts);
      print(reportText({ kind: 'Status', items, findings: objects, skipped }, output));
    } else {
      print(statusText({ facts, inventory, findings, skipped }, options));
    }
    if (isFailed(findings, options.failOn)) endWith(exit.findings);
    if (isNothingRead(facts)) endWith(exit.failed);
  });
}
