import { counted } from '../../api/counted.ts';
import type { PlanView } from '../../api/read-http.ts';
import type { Language } from '../options.ts';
import { aligned } from '../output/table.ts';
import { printable } from '../output/width.ts';
import { summaryLines } from './summary.ts';

type PlannedNode = PlanView['nodes'][number];
type NicChange = PlannedNode['nics'][number];

const signs = { add: '+', change: '~', remove: '-' } as const;

export interface PlanPage {
  readonly plan: PlanView;
  readonly onlyRemovals: boolean;
  /** Command that approves the held removals. */
  readonly approve: string;
}

/** Returns the planned changes per NIC, sums, dry run and hash. */
export function planText({ plan, onlyRemovals, approve }: PlanPage, lang: Language): string {
  const rows = plan.nodes.flatMap((node) =>
    node.nics
      .filter(({ change }) => !onlyRemovals || change === 'remove')
      .map((nic) => rowOf(node, nic)),
  );
  const blocks = [
    [headline(plan, lang)],
    rows.length > 0 ? [aligned(rows.map((row) => row.map(printable)))] : [],
    waitingLines(plan, approve, lang),
    plan.problems.map(({ subject, reason, message }) =>
      printable(`! ${[subject, reason].filter((word) => word !== '').join(' ')}: ${message}`),
    ),
    summaryLines(plan, lang),
  ];
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

function headline(plan: PlanView, lang: Language): string {
  const { config, servers, ports, calculatedAt, dryRun } = plan;
  if (lang === 'ko') {
    const counts = `서버 ${servers}개, 포트 ${ports}개`;
    return dryRun === undefined
      ? `OpenstackConfig ${config}, ${calculatedAt} 동기화의 계획 (${counts})`
      : `OpenstackConfig ${config}, 현재 OpenStack(${counts})과 비즈니스 클러스터 기준의 계획`;
  }
  const read = `${counted(servers, 'server')}, ${counted(ports, 'port')}`;
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
function waitingLines(
  { nodes, heldRemovals }: PlanView,
  approve: string,
  lang: Language,
): string[] {
  const why =
    lang === 'ko'
      ? '유지됩니다: 제거할 근거나 승인이 없습니다'
      : 'stays: its removal has no evidence or approval';
  const waiting = nodes
    .filter(({ unconfirmedRemovals }) => unconfirmedRemovals.length > 0)
    .map(({ nodeName, unconfirmedRemovals }) =>
      printable(`? ${nodeName}  ${unconfirmedRemovals.join(', ')}  ${why}`),
    );
  if (heldRemovals === 0) return waiting;
  return [
    ...waiting,
    lang === 'ko'
      ? `NIC 제거 ${heldRemovals}개가 승인을 기다립니다. 승인하려면:`
      : `${counted(heldRemovals, 'removal')} ${heldRemovals === 1 ? 'waits' : 'wait'} for approval. To approve:`,
    `  ${approve}`,
  ];
}
