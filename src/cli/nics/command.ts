import { Command } from 'commander';
import { listedState } from '../../api/read-http.ts';
import { readNodes } from '../../session/facts/operator-facts.ts';
import { required } from '../../session/facts/required.ts';
import { providersIn, unreadBehind } from '../../session/facts/unread-sources.ts';
import type { EndWith } from '../exit-status.ts';
import { chosenNodes, refuseUnknownState, wordFilter } from '../nodes/filter.ts';
import { withCommonOptions } from '../options.ts';
import { type ListOptions, printList } from '../output/list.ts';
import { withSession } from '../run-command.ts';
import { type NicRow, nicList, nicRows } from './rows.ts';

interface Options extends ListOptions {
  readonly cluster?: string;
  readonly node?: string;
  readonly state?: string;
  readonly reason?: string;
}

/** `multinic nics`: NICs, and the same servers' ports without NIC. */
export function nicsCommand(endWith: EndWith): Command {
  const command = new Command('nics')
    .description('lists NICs, and ports of the same servers that are not NICs (state Unused)')
    .option('--cluster <provider>', 'only NICs of this business cluster')
    .option('--node <name>', 'only NICs of this node: NODE or PROVIDER/NODE')
    .option(
      '--state <state>',
      'only this state: Pending, InProgress, Configured, Failed, Observed, Unknown, Unused',
    )
    .option('--reason <reason>', 'only this reason, such as PortTooOld')
    .option('-w, --watch', 'print changed rows until Ctrl-C')
    .action((options: Options) => listNics(options, endWith));
  return withCommonOptions(command, ['table', 'wide', 'json', 'yaml', 'name']);
}

/** States in NIC lists; Unused: a port without NIC. */
const states = [...listedState.options, 'Unused'];

async function listNics(options: Options, endWith: EndWith): Promise<void> {
  const { cluster, node, namespace } = options;
  const names = node === undefined ? [] : [node];
  const requested = { providers: providersIn(names, cluster), namespace };
  const withWords = wordFilter<NicRow>(options);
  refuseUnknownState(options, states);
  await withSession(options, async (run) => {
    const unread = await printList(
      run,
      nicList(() => run.session.now()),
      options,
      async () => {
        const filter = cluster === undefined ? {} : { providerId: cluster };
        const nodes = required(await readNodes(run.session, filter));
        const chosen = await chosenNodes(run.session, nodes, { names, cluster, namespace });
        const rows = withWords(chosen.flatMap(nicRows));
        return { rows, unread: () => unreadBehind(run.session, requested) };
      },
    );
    endWith({ unread }, options);
  });
}
