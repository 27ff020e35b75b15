import { Command } from 'commander';
import { annotations } from '../../api/names.ts';
import { consentLifetimeMs } from '../../api/removals.ts';
import { allowRemovals } from '../../explain/commands.ts';
import type { ConfigObject } from '../../session/facts/kinds.ts';
import { answered } from '../confirmed.ts';
import { type CommonOptions, withCommonOptions } from '../options.ts';
import { print, reportText } from '../output/print.ts';
import { Refusal, WrongUsage } from '../refusal.ts';
import { type Run, withSession } from '../run-command.ts';
import { annotate, findConfig, keyOf } from '../sync/config-requests.ts';
import { type Hold, readHold } from './hold.ts';
import { consentText, holdText, nothingWaitsText, questionText } from './screen.ts';

interface Options extends CommonOptions {
  readonly yes: boolean;
}

/** `multinic allow-removals CONFIG`: shows the held removals, and consents to exactly these. */
export function allowRemovalsCommand(): Command {
  const command = new Command('allow-removals')
    .description('shows the removals that wait for consent; consents after their number or --yes')
    .argument('<config>', 'OpenstackConfig: NAME or NAMESPACE/NAME')
    .option('--yes', 'consents without a question', false)
    .action(allow);
  return withCommonOptions(command, ['table', 'json', 'yaml']);
}

async function allow(name: string, options: Options): Promise<void> {
  const { lang, output, namespace } = options;
  const isReport = output === 'json' || output === 'yaml';
  await withSession(options, async (run) => {
    const config = await findConfig(run.session, name, namespace);
    run.progress.show(`reading the held removals of ${keyOf(config)}`);
    const hold = await readHold(run, config);
    if (hold === undefined) {
      if (isReport) printReport([], output);
      else print(nothingWaitsText(keyOf(config), lang));
      return;
    }
    // A report is the only text on standard output.
    if (isReport) console.error(holdText(hold, lang));
    else print(holdText(hold, lang));
    if (!options.yes) await confirmNumber(hold, options);
    const consent = await consentTo(run, config, hold);
    if (isReport) printReport([{ ...hold, ...consent }], output);
    else print(consentText(hold, consent.until, lang));
  });
}

function printReport(items: readonly object[], output: 'json' | 'yaml'): void {
  print(reportText({ kind: 'AllowRemovals', items, findings: [], skipped: [] }, output));
}

/** Asks for the number of NICs: a user who types it has read it. */
async function confirmNumber(hold: Hold, options: Options): Promise<void> {
  if (!process.stdin.isTTY) {
    throw new WrongUsage(
      'standard input is not a terminal: the command cannot ask for the number of NICs',
      `${allowRemovals(hold.config)} --yes`,
    );
  }
  const wanted = hold.nics === undefined ? 'yes' : String(hold.nics);
  const answer = await answered(questionText(hold, options.lang));
  if (answer !== wanted) {
    throw new Refusal(
      `nothing was changed: the answer "${answer}" is not ${wanted}`,
      `to consent, type ${wanted}`,
    );
  }
}

interface Consent {
  /** Value of the annotation, RFC 3339. */
  readonly allowRemovals: string;
  readonly until: string;
}

/** Throws a refusal if the OpenstackConfig was edited since it was read: the consent would be for another edit. */
async function consentTo(run: Run, config: ConfigObject, hold: Hold): Promise<Consent> {
  const { session } = run;
  const { generation } = config.metadata;
  const now = await findConfig(session, hold.config, undefined);
  if (now.metadata.uid !== config.metadata.uid || now.metadata.generation !== generation) {
    throw new Refusal(
      `nothing was changed: OpenstackConfig ${hold.config} was edited meanwhile`,
      'run the command again, which shows the present removals',
    );
  }
  const at = session.now();
  await annotate(run, config, { [annotations.allowRemovals]: at.toISOString() });
  const until = new Date(at.getTime() + consentLifetimeMs).toISOString();
  return { allowRemovals: at.toISOString(), until };
}
