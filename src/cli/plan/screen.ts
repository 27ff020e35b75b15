import type { PlanView } from '../../api/read-http.ts';
import { existingNicsTexts } from '../../api/texts/existing-nics.ts';
import { screensTexts } from '../../api/texts/screens.ts';
import { amount, filled, type Language } from '../../api/texts/text.ts';
import { aligned } from '../output/table.ts';
import { printable } from '../output/width.ts';
import { budgetLines, holdLines, unconfirmedLines } from './removals.ts';
import { summaryLines } from './summary.ts';

type PlannedNode = PlanView['nodes'][number];
type NicChange = PlannedNode['nics'][number];

const signs = { add: '+', change: '~', remove: '-' } as const;

export interface PlanPage {
  readonly plan: PlanView;
  readonly onlyRemovals: boolean;
  /** Command that approves the held removals. */
  readonly approve: string;
  /** Lines about the nodes by their last checks; empty: none. */
  readonly nodeLines: readonly string[];
}

/** Returns the planned changes per NIC, sums, dry run and hash. */
export function planText(page: PlanPage, lang: Language): string {
  const { plan, onlyRemovals, approve, nodeLines } = page;
  const rows = plan.nodes.flatMap((node) =>
    node.nics
      .filter(({ change }) => !onlyRemovals || change === 'remove')
      .map((nic) => rowOf(node, nic)),
  );
  const blocks = [
    headLines(plan, lang),
    [
      ...(rows.length > 0 ? [aligned(rows.map((row) => row.map(printable)))] : []),
      ...(onlyRemovals ? [] : sameNicLines(plan, lang)),
    ],
    unconfirmedLines(plan, lang),
    holdLines(plan, lang),
    consentLines(plan, approve, lang),
    hasRemovals(plan, onlyRemovals) ? budgetLines(plan, lang) : [],
    plan.problems.map(({ subject, reason, message }) =>
      printable(`! ${[subject, reason].filter((word) => word !== '').join(' ')}: ${message}`),
    ),
    nodeLines,
    summaryLines(plan, lang),
  ];
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

/** Returns a line per cause for nodes that are sent again with the same NICs, such as another mode. */
function sameNicLines({ nodes }: PlanView, lang: Language): string[] {
  const sent = nodes.filter(({ action, nics }) => action === 'update' && nics.length === 0);
  return [...Map.groupBy(sent, ({ why }) => why)].flatMap(([why, own]) =>
    why === ''
      ? []
      : printable(
          filled(existingNicsTexts.nodesSent, { nodes: amount(own.length, 'node'), why })[lang],
        ),
  );
}

function headLines(plan: PlanView, lang: Language): string[] {
  const observes = plan.mode === 'Observe' ? [existingNicsTexts.planObserves[lang]] : [];
  const adopts = plan.existingConfiguration ? [existingNicsTexts.planAdopts[lang]] : [];
  return [headline(plan, lang), ...observes, ...adopts];
}

function headline(plan: PlanView, lang: Language): string {
  const { config, servers, ports, calculatedAt, dryRun } = plan;
  const counts = { servers: amount(servers, 'server'), ports: amount(ports, 'port') };
  return dryRun === undefined
    ? filled(screensTexts.planOfSync, { config, at: calculatedAt, ...counts })[lang]
    : filled(screensTexts.planNow, { config, ...counts })[lang];
}

function rowOf({ nodeName }: PlannedNode, nic: NicChange): string[] {
  const fields = nic.change === 'change' ? changedFields(nic) : addedFields(nic);
  return [`${signs[nic.change]} ${nodeName}`, nic.name, ...fields];
}

function addedFields(nic: NicChange): string[] {
  const { change, after = {}, portId, macAddress, cause = '', basis } = nic;
  const port = portId === undefined ? `mac ${macAddress}` : `port ${portId.slice(0, 8)}…`;
  if (change === 'remove') return [port, '', '', '', basis ? `${cause} (${basis})` : cause];
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

/** True if the plan removes NICs, or holds removals. */
function hasRemovals({ nodes, heldRemovals }: PlanView, onlyRemovals: boolean): boolean {
  const removes = nodes.some(({ nics }) => nics.some(({ change }) => change === 'remove'));
  return onlyRemovals || removes || heldRemovals > 0;
}

function consentLines({ heldRemovals }: PlanView, approve: string, lang: Language): string[] {
  if (heldRemovals === 0) return [];
  return [
    filled(screensTexts.toConsent, {
      removals: amount(heldRemovals, 'removal waits', 'removals wait'),
    })[lang],
    `  ${approve}`,
  ];
}
