import { Command, Option } from 'commander';
import { type BizConfigGroup, bizConfigGroups, namespaces } from '../../api/names.ts';
import type { Language } from '../../api/texts/text.ts';
import { parseDuration } from '../../process/duration.ts';
import {
  accessOf,
  connect,
  usualKubeconfig,
  usualKubeconfigText,
} from '../../session/access/cluster-access.ts';
import { systemClock } from '../../time/clock.ts';
import { confirmed } from '../confirmed.ts';
import type { EndWith } from '../exit-status.ts';
import { languageOption, outputOption } from '../options.ts';
import { Refusal } from '../refusal.ts';
import { applyMigration, checkApply } from './apply.ts';
import { changedByRevert, isStarted, revert } from './back.ts';
import { observe } from './observe.ts';
import { planOf } from './plan.ts';
import { type Output, planText, verifyText } from './print.ts';
import type { Run } from './run.ts';
import { checkReadable, findSource, migrationStart, type Source } from './source.ts';
import {
  appliedText,
  changingText,
  nextStepsText,
  notMigratedText,
  questions,
  revertText,
} from './texts.ts';
import { verify } from './verify.ts';

interface Options {
  readonly kubeconfig: string;
  readonly context?: string;
  readonly namespace: string;
  readonly group?: BizConfigGroup;
  readonly output: Output;
  readonly lang: Language;
}

interface WriteOptions extends Options {
  readonly timeout: string;
  readonly yes: boolean;
  readonly keepDifferences?: boolean;
}

/** `multinic migrate biz-config plan|apply|verify|back`: from one object per cluster to one object per node. */
export function migrateCommand(endWith: EndWith): Command {
  const bizConfig = new Command('biz-config')
    .description('moves the nodes of a MultiNicBizConfig to one MultiNicNodeConfig per node')
    .addCommand(
      reading('plan', 'lists each node with the action of apply; changes nothing').action(
        (name: string, options: Options) =>
          withSource(name, options, async (run, source) => plan(run, source, options, endWith)),
      ),
    )
    .addCommand(
      writing(
        'apply',
        'makes the MultiNicBizConfig read-only, creates missing MultiNicNodeConfigs, removes labels',
      )
        .option(
          '--keep-differences',
          'migrate even if objects differ from their entries; these objects stay unchanged',
        )
        .action((name: string, options: WriteOptions) =>
          withSource(name, options, async (run, source) => apply(run, source, options, endWith)),
        ),
    )
    .addCommand(
      reading(
        'verify',
        'checks that every node is Ready and unchanged, and that no agent ran since apply',
      ).action((name: string, options: Options) =>
        withSource(name, options, async (run, source) => check(run, source, options, endWith)),
      ),
    )
    .addCommand(
      writing(
        'back',
        'undoes apply: restores labels and mode; objects that Viola wrote since then stay',
      ).action((name: string, options: WriteOptions) =>
        withSource(name, options, async (run, source) => back(run, source, options)),
      ),
    );
  return new Command('migrate')
    .description(
      'migrates a MultiNicBizConfig to MultiNicNodeConfigs; scripts/migrate.sh migrates the legacy (Go) system',
    )
    .addCommand(bizConfig);
}

function common(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .argument('<name>', 'name of the MultiNicBizConfig')
    .addOption(
      new Option('--kubeconfig <path>', 'kubeconfig of the business cluster').default(
        usualKubeconfig(),
        usualKubeconfigText,
      ),
    )
    .option('--context <name>', 'context in --kubeconfig; default: its current-context')
    .option('-n, --namespace <name>', 'namespace of the MultiNicBizConfig', namespaces.system)
    .addOption(
      new Option(
        '--group <name>',
        'API group of the MultiNicBizConfig; default: the only group with an object of this name',
      ).choices(bizConfigGroups),
    )
    .addOption(languageOption());
}

function reading(name: string, description: string): Command {
  return common(name, description).addOption(outputOption(['table', 'json', 'yaml']));
}

function writing(name: string, description: string): Command {
  return common(name, description)
    .option('--timeout <duration>', 'maximum time to wait for the controller', '2m')
    .option('--yes', 'do not ask for confirmation', false);
}

function progress(line: string): void {
  console.error(line);
}

/** Runs an action with the source from the options; after Ctrl-C a second run continues. */
async function withSource(
  name: string,
  options: Options,
  action: (run: Run, source: Source) => Promise<void>,
): Promise<void> {
  const { kubeconfig, context, namespace, group } = options;
  const access = await accessOf(kubeconfig, context, {
    file: '--kubeconfig',
    context: '--context',
  });
  await using client = connect(access);
  const interrupt = new AbortController();
  const onInterrupt = (): void =>
    interrupt.abort(new Error('interrupted\nNext: run the command again; it continues from there'));
  process.once('SIGINT', onInterrupt);
  try {
    const { signal } = interrupt;
    const source = await findSource(client, { namespace, name, group }, signal);
    await action({ client, clock: systemClock, signal, progress }, source);
  } finally {
    process.off('SIGINT', onInterrupt);
  }
}

const preview = 'run plan to see each node';

async function plan(run: Run, source: Source, options: Options, endWith: EndWith) {
  checkReadable(source);
  const observed = await observe(run.client, source, run.signal);
  const rows = planOf(source, observed).map(({ row }) => row);
  console.log(planText(source, rows, observed.skipped, options));
  const isDone = migrationStart(source) !== undefined;
  const isQuiet = rows.every(({ state, action }) => state === 'same' && action === 'none');
  if (!isDone || !isQuiet) endWith({ hasChanges: true });
}

async function apply(run: Run, source: Source, options: WriteOptions, endWith: EndWith) {
  const { keepDifferences = false, yes, lang } = options;
  const settings = { timeoutMs: timeoutOf(options.timeout), keepDifferences };
  const observed = await observe(run.client, source, run.signal);
  const planned = planOf(source, observed);
  checkApply(source, planned, settings);
  const rows = planned.map(({ row }) => row);
  console.log(planText(source, rows, observed.skipped, { output: 'table', lang }));
  if (!yes) await confirmed(questions.apply(source, lang), preview);
  const applied = await applyMigration(run, source, settings);
  console.log(appliedText(applied, lang));
  if (applied.refused.length > 0) endWith({ isFailed: true });
  else console.log(nextStepsText(source, lang));
}

async function check(run: Run, source: Source, options: Options, endWith: EndWith) {
  const { output, lang } = options;
  checkReadable(source);
  const observed = await observe(run.client, source, run.signal);
  const results = verify(source, planOf(source, observed));
  console.log(verifyText(source, results, observed.skipped, options));
  if (results.some(({ holds }) => !holds)) endWith({ isFailed: true });
  else if (output === 'table') console.log(nextStepsText(source, lang));
}

async function back(run: Run, source: Source, options: WriteOptions): Promise<void> {
  const timeoutMs = timeoutOf(options.timeout);
  const { lang } = options;
  if (!(await isStarted(run, source))) {
    console.log(notMigratedText(source, lang));
    return;
  }
  const observed = await observe(run.client, source, run.signal);
  const changing = changedByRevert(source, planOf(source, observed));
  if (changing.length > 0) console.log(changingText(source, changing, lang));
  if (!options.yes) await confirmed(questions.back(source, lang), preview);
  console.log(revertText(source, await revert(run, source, timeoutMs), lang));
}

function timeoutOf(text: string): number {
  const milliseconds = parseDuration(text) ?? Number.NaN;
  if (milliseconds >= 0) return milliseconds;
  throw new Refusal(`--timeout "${text}" is not a duration`, 'give for example --timeout 5m');
}
