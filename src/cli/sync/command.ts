import { Command } from 'commander';
import { multinic } from '../../explain/commands.ts';
import { nodeKey, providerOfConfig } from '../../explain/subject.ts';
import { parseDuration } from '../../process/duration.ts';
import { findNodes } from '../../session/facts/port-subjects.ts';
import { commandInContext } from '../../session/in-context.ts';
import type { EndWith } from '../exit-status.ts';
import { type CommonOptions, withCommonOptions } from '../options.ts';
import { print, reportText } from '../output/print.ts';
import { Refusal, WrongUsage } from '../refusal.ts';
import { type Run, withSession } from '../run-command.ts';
import { checkNode, findConfig, keyOf, requestOf } from './config-requests.ts';
import { problemsOf } from './node-problems.ts';
import { readyIn } from './request-gate.ts';
import { healText, syncText } from './screen.ts';

interface Options extends CommonOptions {
  readonly node?: string;
  readonly timeout: string;
}

/** `multinic sync CONFIG`, `multinic sync --node NODE`: requests a sync, or checks a node and applies drift once. */
export function syncCommand(endWith: EndWith): Command {
  const command = new Command('sync')
    .description(
      'requests a sync and waits; with --node checks a node and applies what differs once',
    )
    .argument('[config]', 'OpenstackConfig: NAME or NAMESPACE/NAME')
    .option('--node <name>', 'node to check and heal: NODE or PROVIDER/NODE')
    .option('--timeout <duration>', 'how long to wait', '5m')
    .action((config: string | undefined, options: Options) => sync(config, options, endWith));
  return withCommonOptions(command, ['table', 'json', 'yaml']);
}

async function sync(config: string | undefined, options: Options, endWith: EndWith): Promise<void> {
  const { node } = options;
  if ((config === undefined) === (node === undefined)) {
    throw new WrongUsage(
      'give either an OpenstackConfig or --node NODE',
      'for example: kubectl multinic sync storage',
    );
  }
  const timeoutMs = timeoutOf(options.timeout);
  await withSession(options, async (run) => {
    if (node !== undefined) return healNode(run, node, timeoutMs, options, endWith);
    return syncConfig(run, config ?? '', timeoutMs, options, endWith);
  });
}

export function timeoutOf(text: string): number {
  const milliseconds = parseDuration(text) ?? Number.NaN;
  if (milliseconds > 0) return milliseconds;
  throw new WrongUsage(`--timeout "${text}" is no duration`, 'give for example --timeout 5m');
}

async function syncConfig(
  run: Run,
  name: string,
  timeoutMs: number,
  options: Options,
  endWith: EndWith,
): Promise<void> {
  const config = await findConfig(run.session, name, options.namespace);
  const at = run.session.now().toISOString();
  const request = { kind: 'sync', value: at, text: at } as const;
  const ended = await requestOf(run, config, request, timeoutMs);
  const { status } = ended.config;
  const ready = readyIn(ended.config);
  if (ready.status !== 'True') endWith({ isFailed: true });
  const { output, lang } = options;
  if (output === 'json' || output === 'yaml') {
    const items = [{ config: keyOf(config), reconcileAt: at, status }];
    print(reportText({ kind: 'Sync', items, findings: [], skipped: [] }, output));
  } else {
    const nextAt = status?.lastAttempt?.nextAt;
    const provider = providerOfConfig(config);
    const result = { config: keyOf(config), provider, ready, nextAt, now: run.session.now() };
    print(syncText(result, lang));
  }
}

async function healNode(
  run: Run,
  text: string,
  timeoutMs: number,
  options: Options,
  endWith: EndWith,
): Promise<void> {
  const { output, lang } = options;
  const node = await chosenNode(run, text);
  const healed = await checkNode(run, { node, heal: true, timeoutMs });
  const isGood = problemsOf(healed).length === 0 && !healed.drifted;
  if (!isGood) endWith({ isFailed: true });
  if (output === 'json' || output === 'yaml') {
    print(reportText({ kind: 'NodeSync', items: [healed], findings: [], skipped: [] }, output));
    return;
  }
  const why = isGood ? undefined : commandInContext(multinic('why', nodeKey(healed)), options);
  print(healText(healed, why, lang));
}

/** Returns the only node of a name. */
export async function chosenNode({ session }: Run, text: string) {
  const [nodeName = '', providerId] = text.split('/').toReversed();
  const nodes = await findNodes(session, nodeName, providerId);
  const [node] = nodes;
  if (node && nodes.length === 1) return node;
  const names = nodes.map((each) => `${each.providerId}/${each.nodeName}`).join(', ');
  throw new Refusal(
    `${nodes.length} nodes have the name ${nodeName}: ${names}`,
    'give PROVIDER/NODE',
  );
}
