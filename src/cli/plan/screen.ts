import type { PlanView } from '../../api/read-http.ts';
import { plural } from '../output/findings.ts';
import { aligned } from '../output/table.ts';
import { printable } from '../output/width.ts';

type PlannedNode = PlanView['nodes'][number];
type NicChange = PlannedNode['nics'][number];

const signs = { add: '+', change: '~', remove: '-' } as const;

/** Returns the planned changes per NIC, sums, dry run and hash. */
export function planText(plan: PlanView, onlyRemovals: boolean): string {
  const rows = plan.nodes.flatMap((node) =>
    node.nics
      .filter(({ change }) => !onlyRemovals || change === 'remove')
      .map((nic) => rowOf(node, nic)),
  );
  const blocks = [
    [headline(plan)],
    rows.length > 0 ? [aligned(rows.map((row) => row.map(printable)))] : [],
    waitingLines(plan),
    plan.problems.map(({ subject, reason, message }) =>
      printable(`! ${[subject, reason].filter((word) => word !== '').join(' ')}: ${message}`),
    ),
    [...sumLines(plan), ...dryRunLines(plan), ...noteLines(plan)],
  ];
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

function headline({ config, servers, ports, calculatedAt, dryRun }: PlanView): string {
  const read = `${plural(servers, 'server')}, ${plural(ports, 'port')}`;
  return dryRun === undefined
    ? `OpenstackConfig ${config}, plan of the sync at ${calculatedAt} (${read})`
    : `OpenstackConfig ${config}, planned with OpenStack (${read}) and the business cluster as they are now`;
}

function rowOf({ nodeName }: PlannedNode, nic: NicChange): string[] {
  const fields = nic.change === 'change' ? changedFields(nic) : addedFields(nic);
  return [`${signs[nic.change]} ${nodeName}`, nic.name, ...fields];
}

function addedFields({ change, after = {}, portId, macAddress, cause = '' }: NicChange): string[] {
  const port = portId === undefined ? `mac ${macAddress}` : `port ${portId.slice(0, 8)}…`;
  if (change === 'remove') return [port, '', '', '', cause];
  const addresses = after['addresses'];
  const address = Array.isArray(addresses) ? addresses.join(',') : text(after['address']);
  const gateway = after['gateway'] === undefined ? '' : `gateway ${text(after['gateway'])}`;
  const mtu = after['mtu'] === undefined ? '' : `mtu ${text(after['mtu'])}`;
  return [address, gateway, mtu, port];
}

function changedFields({ before = {}, after = {} }: NicChange): string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return [names.map((name) => `${name} ${text(before[name])} → ${text(after[name])}`).join(', ')];
}

function text(value: unknown): string {
  if (value === undefined) return '-';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Names NICs that stay although OpenStack no longer has their ports. */
function waitingLines({ nodes, heldRemovals, config }: PlanView): string[] {
  const waiting = nodes
    .filter(({ unconfirmedRemovals }) => unconfirmedRemovals.length > 0)
    .map(({ nodeName, unconfirmedRemovals }) =>
      printable(
        `? ${nodeName}  ${unconfirmedRemovals.join(', ')}  stays: its removal has no evidence or approval`,
      ),
    );
  if (heldRemovals === 0) return waiting;
  const [namespace = '', name = ''] = config.split('/');
  return [
    ...waiting,
    `${plural(heldRemovals, 'removal')} ${heldRemovals === 1 ? 'waits' : 'wait'} for approval. To approve:`,
    `  kubectl -n ${namespace} annotate osc ${name} --overwrite multinic.io/allow-removals="$(date -Is)"`,
  ];
}

function sumLines({ nodes, unchanged, agentJobs }: PlanView): string[] {
  const nics = nodes.flatMap((node) => node.nics);
  const count = (change: NicChange['change']) => nics.filter((nic) => nic.change === change).length;
  const changing = nodes.filter(({ action }) => action !== 'none').length;
  const all = changing + unchanged;
  if (changing === 0) return [`No changes on ${plural(all, 'node')}.`];
  return [
    `${plural(count('add'), 'NIC')} added, ${count('change')} changed, ${count('remove')} removed on ${changing} of ${plural(all, 'node')}. ${plural(agentJobs, 'agent Job')} would start. Other nodes stay as they are.`,
  ];
}

function dryRunLines({ dryRun }: PlanView): string[] {
  if (dryRun === undefined) return [];
  if (!dryRun.validated) return [`Not validated by Viola: ${printable(dryRun.message)}`];
  const { results = [], errors = [] } = dryRun.answer ?? {};
  const all = results.length + errors.length;
  return [
    `Server-side dry run by Viola: ${results.length} of ${plural(all, 'node')} accepted.`,
    ...errors.map(({ nodeName, field, message }) =>
      printable(`! ${nodeName}${field ? ` ${field}` : ''}: ${message}`),
    ),
  ];
}

function noteLines({ hash }: PlanView): string[] {
  return [
    'The plan does not read the kernel of the nodes. To compare a node, run kubectl multinic diff NODE.',
    `Plan hash: ${hash.slice(0, 8)}. It changes when the OpenstackConfig, OpenStack or the business cluster changes.`,
  ];
}
