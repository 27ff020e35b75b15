import { Command } from 'commander';
import type { NicView, NodeView } from '../../api/read-http.ts';
import type { Language } from '../../api/texts/text.ts';
import { multinic } from '../../explain/commands.ts';
import { wouldChange } from '../../explain/obstacles.ts';
import { type PendingChanges, pendingOf } from '../../explain/pending-changes.ts';
import { driftOf } from '../../explain/steps/kernel.ts';
import { isObserved, nodeKey } from '../../explain/subject.ts';
import { readCheckLog } from '../../session/facts/agent-facts.ts';
import { commandInContext, inContext } from '../../session/in-context.ts';
import type { EndWith } from '../exit-status.ts';
import { type CommonOptions, withCommonOptions } from '../options.ts';
import { print, reportText } from '../output/print.ts';
import type { Skipped } from '../report.ts';
import { type Run, withSession } from '../run-command.ts';
import { chosenNode, timeoutOf } from '../sync/command.ts';
import { checkNode } from '../sync/config-requests.ts';
import { problemsOf } from '../sync/node-problems.ts';
import { observeSteps } from './observe-steps.ts';
import { diffText } from './screen.ts';

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
    const { output, lang } = options;
    const { pending, skipped } = await pendingChanges(run, checked, lang);
    if (output === 'json' || output === 'yaml') {
      const items = [{ ...checked, changes: pending }];
      print(reportText({ kind: 'Diff', items, findings: [], skipped }, output));
    } else {
      const key = nodeKey(checked);
      const heal = commandInContext(multinic('sync', '--node', key), options);
      const why = commandInContext(multinic('why', key), options);
      const next = observeSteps(checked, pending).map((step) =>
        inContext(step, options, checked.providerId),
      );
      const page = { node: checked, pending, skipped, heal, why, next };
      print(diffText({ ...page, now: run.session.now() }, lang));
    }
    const isDifferent = checked.drifted || checked.nics.some(({ state }) => state === 'Observed');
    endWith(isDifferent ? { hasChanges: true } : { isFailed: problemsOf(checked).length > 0 });
  });
}

interface Pending {
  readonly pending: readonly PendingChanges[];
  readonly skipped: readonly Skipped[];
}

/** Returns the changes per NIC; reads the agent's log only if the status is shortened. */
async function pendingChanges({ session }: Run, node: NodeView, lang: Language): Promise<Pending> {
  const differing = differingNics(node);
  const ofStatus = differing.map((nic) => pendingOf(nic, ''));
  if (ofStatus.every(({ complete }) => complete)) return { pending: ofStatus, skipped: [] };
  const log = await readCheckLog(session, node.providerId, node.nodeName);
  if (log.state === 'read') {
    return { pending: differing.map((nic) => pendingOf(nic, log.value ?? '')), skipped: [] };
  }
  const { what, why, next } = log;
  return {
    pending: ofStatus,
    skipped: [{ what: what[lang], why: why[lang], next: next[lang] }],
  };
}

type Differing = Pick<NicView, 'name' | 'macAddress' | 'message'>;

/**
 * Returns NICs that an apply would change, and the changes as message. Drift of an unplanned NIC is in the node's message
 * only.
 */
function differingNics(node: NodeView): Differing[] {
  if (isObserved(node)) return node.nics.filter(wouldChange);
  const { nics, nodeName, drifted, message: ofNode } = node;
  if (!drifted) return [];
  const differing = nics.flatMap((nic) => {
    const message = driftOf(node, nic);
    return message === undefined ? [] : [{ ...nic, message }];
  });
  return differing.length > 0 ? differing : [{ name: nodeName, macAddress: '', message: ofNode }];
}
