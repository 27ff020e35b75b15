import { Command, Option } from 'commander';
import type { PlanView } from '../../api/read-http.ts';
import { allowRemovals } from '../../explain/commands.ts';
import { missingOf, unreadSources } from '../../explain/conclusion.ts';
import { valueOf } from '../../explain/subject.ts';
import type { ConfigObject } from '../../session/facts/kinds.ts';
import { readNodes } from '../../session/facts/operator-facts.ts';
import { unreadBehind } from '../../session/facts/unread-sources.ts';
import { commandInContext, sourcesInContext } from '../../session/in-context.ts';
import type { EndWith } from '../exit-status.ts';
import { type CommonOptions, withCommonOptions } from '../options.ts';
import { findingObject } from '../output/findings.ts';
import { incompleteLines, incompleteObjects } from '../output/incomplete.ts';
import { print, reportText } from '../output/print.ts';
import { Refusal } from '../refusal.ts';
import { type Run, withSession } from '../run-command.ts';
import { findConfig, keyOf } from '../sync/config-requests.ts';
import { type Edit, editedFile, editOf, editOfFile } from './edit.ts';
import { onNodes, onNodesLines } from './on-nodes.ts';
import { planOf } from './request.ts';
import { planText } from './screen.ts';

interface Options extends CommonOptions {
  readonly set: readonly string[];
  readonly filename?: string;
  readonly removals: boolean;
}

/** `multinic plan CONFIG`: the next sync's plan, or a what-if; changes nothing. */
export function planCommand(endWith: EndWith): Command {
  const command = new Command('plan')
    .description('shows what the next sync would do; --set or -f for a what-if; changes nothing')
    .argument('<config>', 'OpenstackConfig: NAME or NAMESPACE/NAME')
    .addOption(
      new Option('--set <key=value>', 'replaces a field of spec (repeatable)')
        .argParser(append)
        .default([], 'none'),
    )
    .option('-f, --filename <path>', 'edited OpenstackConfig to plan with; -: standard input')
    .option('--removals', 'only NICs that would be removed, and removals that wait', false)
    .action((name: string, options: Options) => plan(name, options, endWith));
  return withCommonOptions(command, ['table', 'json', 'yaml']);
}

function append(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}

async function plan(name: string, options: Options, endWith: EndWith): Promise<void> {
  const { set, filename, output, removals, lang } = options;
  const assignments = editOf(set);
  await withSession(options, async (run) => {
    const file = filename === undefined ? undefined : await editedFile(filename);
    const editFor = (config: ConfigObject) =>
      merged(file === undefined ? {} : editOfFile(file, config), assignments);
    const { view, config } = await currentPlan(run, {
      name,
      namespace: options.namespace,
      editFor,
    });
    const behind = await unreadBehind(run.session, { configs: [config] });
    // A plan of removals is not about NICs that other programs configured.
    const nodes = removals ? undefined : await readNodes(run.session, { config: view.config });
    const missing = nodes ? unreadSources(missingOf(nodes)) : [];
    const unread = sourcesInContext([...behind, ...missing], options);
    const found = onNodes((nodes && valueOf(nodes)) ?? [], options);
    if (output === 'json' || output === 'yaml') {
      const incomplete = incompleteObjects(unread, lang);
      const findings = found.findings.map((each) => findingObject(each, lang));
      const report = { kind: 'Plan', items: [view], findings, skipped: [], incomplete };
      print(reportText(report, output));
    } else {
      for (const line of incompleteLines(unread, lang)) print(line);
      const approve = commandInContext(allowRemovals(view.config), options);
      const nodeLines = onNodesLines(found, { now: run.session.now(), options, lang });
      print(planText({ plan: view, onlyRemovals: removals, approve, nodeLines }, lang));
    }
    endWith({ hasChanges: needsAttention(view), unread }, options);
  });
}

/** True if the next sync changes nodes, or reports problems. */
function needsAttention({ nodes, problems }: PlanView): boolean {
  return problems.length > 0 || nodes.some(({ action }) => action !== 'none');
}

interface PlanRequest {
  readonly name: string;
  readonly namespace: string | undefined;
  /** Returns the edit for the current OpenstackConfig. */
  readonly editFor: (config: ConfigObject) => Edit;
}

/** Maximum plans, if the OpenstackConfig changes during each plan. */
const mostChanges = 3;
const pauseMs = 500;

/** Plans again while generations differ between plan and edit. */
async function currentPlan(
  run: Run,
  { name, namespace, editFor }: PlanRequest,
): Promise<{ readonly view: PlanView; readonly config: ConfigObject }> {
  const { session, progress } = run;
  for (let changes = 0; changes < mostChanges; changes += 1) {
    const config = await findConfig(session, name, namespace);
    const { generation } = config.metadata;
    progress.show(`planning ${keyOf(config)}`);
    const view = await planOf(run, config, editFor(config));
    // The last sync's plan may be about an older generation.
    if (view.dryRun === undefined || view.generation === generation) return { view, config };
    console.error(
      `OpenstackConfig ${keyOf(config)} has changed since the plan (generation ${generation}, planned ${view.generation}): planning again`,
    );
    await session.clock.sleep(pauseMs, session.signal);
  }
  throw new Refusal(
    `OpenstackConfig ${name} changed during each of ${mostChanges} plans`,
    'try again when the changes of the OpenstackConfig have ended',
  );
}

function merged(a: Edit, b: Edit): Edit {
  const settings = { ...(a['settings'] as Edit), ...(b['settings'] as Edit) };
  return { ...a, ...b, ...(Object.keys(settings).length > 0 ? { settings } : {}) };
}
