import { Command } from 'commander';
import type { NodeView } from '../../api/read-http.ts';
import { ageOf } from '../../explain/wording.ts';
import { type EndWith, exit } from '../exit-status.ts';
import { type CommonOptions, withCommonOptions } from '../options.ts';
import { print, reportText } from '../output/print.ts';
import { printable } from '../output/width.ts';
import { withSession } from '../run-command.ts';
import { chosenNode, timeoutOf } from '../sync/command.ts';
import { checkNode } from '../sync/config-requests.ts';

interface Options extends CommonOptions {
  readonly timeout: string;
}

/** `multinic diff NODE`: starts an agent that only reads, and shows what differs from what was applied. */
export function diffCommand(endWith: EndWith): Command {
  const command = new Command('diff')
    .description('shows a node beside what was applied; starts an agent that only reads')
    .argument('<node>', 'NODE or PROVIDER/NODE')
    .option('--timeout <duration>', 'how long to wait', '5m')
    .action((node: string, options: Options) => diff(node, options, endWith));
  return withCommonOptions(command, ['table', 'json', 'yaml']);
}

async function diff(text: string, options: Options, endWith: EndWith): Promise<void> {
  const timeoutMs = timeoutOf(options.timeout);
  await withSession(options, async (run) => {
    const node = await chosenNode(run, text);
    const checked = await checkNode(run, { node, heal: false, timeoutMs });
    const { output } = options;
    if (output === 'json' || output === 'yaml') {
      print(reportText({ kind: 'Diff', items: [checked], findings: [], skipped: [] }, output));
    } else {
      print(diffText(checked, run.session.now()));
    }
    if (checked.drifted) endWith(exit.changes);
  });
}

/** Returns the difference per NIC. The agent reports pending commands, at most 120 bytes per NIC. */
export function diffText(node: NodeView, now: Date): string {
  const { nodeName, nics, object, drifted, checkedAt } = node;
  const job = object?.lastJobName === undefined ? '' : ` (Job ${object.lastJobName})`;
  const differing = nics.filter(({ reason }) => reason === 'Drifted');
  const same = nics.filter(({ reason }) => reason !== 'Drifted').map(({ name }) => name);
  const lines = [
    `Node ${nodeName} was checked ${ageOf(checkedAt, now).en} ago${job}`,
    ...(drifted ? ['+ would be applied', ''] : ['']),
    ...differing.flatMap(({ name, message }) => [name, ...changes(message)]),
    ...(same.length > 0 ? [`${same.join(', ')}: no difference`] : []),
    ...(drifted && differing.length === 0 ? changes(node.message) : []),
    ...(drifted
      ? [
          '',
          'Next: to apply what differs once:',
          `  kubectl multinic sync --node ${node.providerId}/${nodeName}`,
        ]
      : []),
  ];
  return lines.map((line) => printable(line)).join('\n');
}

function changes(message: string): string[] {
  const work = message.replace(/^.*an apply would: /, '');
  return work.split('; ').map((line) => `  + ${line}`);
}
