import { Command } from 'commander';
import { examine } from '../../explain/examine.ts';
import { type EndWith, exit } from '../exit-status.ts';
import { isNothingRead, readSystem } from '../facts/system-facts.ts';
import { type CommonOptions, type FailOn, withCommonOptions, withFailOn } from '../options.ts';
import { findingObject, inContextOf, isFailed, problemsIn, skippedIn } from '../output/findings.ts';
import { print, reportText } from '../output/print.ts';
import { withSession } from '../run-command.ts';
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
    const facts = await readSystem(session, options.namespace);
    const sections = inContextOf(examine(facts), options);
    const findings = problemsIn(sections);
    const { output, lang } = options;
    if (output === 'json' || output === 'yaml') {
      const items = sections.map(({ section, checks, summary }) => ({
        section,
        checks,
        summary: summary[lang],
      }));
      const objects = findings.map((finding) => findingObject(finding, lang));
      const skipped = skippedIn(sections, lang);
      print(reportText({ kind: 'Doctor', items, findings: objects, skipped }, output));
    } else {
      const seconds = (session.clock.monotonicMs() - started) / 1_000;
      const context = options.context ?? '';
      const { businessContext } = options;
      print(doctorText({ facts, sections, businessContext, context, seconds }, lang));
    }
    // Without the operator no NIC was examined.
    if (facts.clusters.state === 'unread' && facts.nodes.state === 'unread') endWith(exit.failed);
    if (isFailed(findings, options.failOn)) endWith(exit.findings);
    if (isNothingRead(facts)) endWith(exit.failed);
  });
}
