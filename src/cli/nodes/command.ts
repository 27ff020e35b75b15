import { Command } from 'commander';
import { attentionOf, configuredNics } from '../../api/node-summary.ts';
import { listedState, type NodeView } from '../../api/read-http.ts';
import { ageOf } from '../../explain/wording.ts';
import { readNodes } from '../../session/facts/operator-facts.ts';
import { required } from '../../session/facts/required.ts';
import { providersIn, unreadBehind } from '../../session/facts/unread-sources.ts';
import type { EndWith } from '../exit-status.ts';
import { withCommonOptions } from '../options.ts';
import { type List, type ListOptions, printList } from '../output/list.ts';
import type { Column } from '../output/table.ts';
import { withSession } from '../run-command.ts';
import { chosenNodes, refuseUnknownState, wordFilter } from './filter.ts';

interface Options extends ListOptions {
  readonly cluster?: string;
  readonly state?: string;
  readonly reason?: string;
  readonly config?: string;
}

/** `multinic nodes`: nodes that OpenstackConfigs deliver. */
export function nodesCommand(endWith: EndWith): Command {
  const command = new Command('nodes')
    .description('lists nodes with state, reason and last check')
    .argument('[names...]', 'only these nodes: NODE or PROVIDER/NODE')
    .option('--cluster <provider>', 'only nodes of this business cluster')
    .option('--state <state>', 'only nodes in this state, such as Failed')
    .option('--reason <reason>', 'only nodes with this reason, such as Drifted')
    .option('--config <namespace/name>', 'only nodes of this OpenstackConfig')
    .option('-w, --watch', 'print changed rows until Ctrl-C')
    .action((names: readonly string[], options: Options) => listNodes(names, options, endWith));
  return withCommonOptions(command, ['table', 'wide', 'json', 'yaml', 'name']);
}

async function listNodes(
  names: readonly string[],
  options: Options,
  endWith: EndWith,
): Promise<void> {
  const { cluster, namespace, config } = options;
  const wanted = { names, cluster, namespace, config };
  const requested = { providers: providersIn(names, cluster), config, namespace };
  const withWords = wordFilter<NodeView>(options);
  refuseUnknownState(options, listedState.options);
  await withSession(options, async (run) => {
    const list = listOf(() => run.session.now());
    const unread = await printList(run, list, options, async () => {
      const given = Object.entries({ providerId: cluster, config });
      const filter = Object.fromEntries(given.filter(([, value]) => value !== undefined));
      const nodes = required(await readNodes(run.session, filter));
      const rows = withWords(await chosenNodes(run.session, nodes, wanted));
      return { rows, unread: () => unreadBehind(run.session, requested) };
    });
    endWith({ unread }, options);
  });
}

function listOf(now: () => Date): List<NodeView> {
  return {
    kind: 'NodeList',
    columns: columns(now),
    name: ({ providerId, nodeName }) => `${providerId}/${nodeName}`,
    object: (node) => node,
    empty: 'No nodes. Next: kubectl multinic status',
  };
}

function columns(now: () => Date): Column<NodeView>[] {
  const age = (at: string | undefined) => ageOf(at, now()).en;
  return [
    { title: 'CLUSTER', cell: ({ providerId }) => providerId },
    { title: 'NODE', cell: ({ nodeName }) => nodeName },
    { title: 'READY', cell: ({ ready }) => ready },
    { title: 'STATE', cell: ({ state }) => state },
    { title: 'NICS', cell: (node) => `${configuredNics(node)}/${node.nics.length}` },
    { title: 'REASON', cell: (node) => attentionOf(node) },
    { title: 'SINCE', cell: ({ since }) => age(since) || '-' },
    { title: 'BACKEND', cell: ({ backend }) => backend ?? '-', wide: true },
    { title: 'AGENT', cell: ({ agentVersion }) => agentVersion ?? '-', wide: true },
    { title: 'LAST CHECK', cell: ({ checkedAt }) => age(checkedAt) || '-', wide: true },
    { title: 'INSTANCE', cell: ({ instanceId }) => instanceId, wide: true },
  ];
}
