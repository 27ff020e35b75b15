import { findCondition } from '../../api/condition.ts';
import type { OpenstackConfig } from '../../api/openstackconfig.ts';
import type { ClusterView } from '../../api/read-http.ts';
import { screensTexts } from '../../api/texts/screens.ts';
import { filled } from '../../api/texts/text.ts';
import { words } from '../../api/texts/titles.ts';
import type { Fact } from '../../explain/fact.ts';
import type { PartHealth, SystemFacts } from '../../explain/facts.ts';
import type { Finding } from '../../explain/finding.ts';
import { ageOf } from '../../explain/wording.ts';
import type { CommonOptions, Language } from '../options.ts';
import { countLine, findingLines, skippedLines } from '../output/findings.ts';
import { aligned, type Column, formatTable } from '../output/table.ts';
import type { Skipped } from '../report.ts';
import type { InventoryState } from './inventory-state.ts';

export interface StatusPage {
  readonly facts: SystemFacts;
  readonly inventory: Fact<InventoryState>;
  readonly findings: readonly Finding[];
  readonly skipped: readonly Skipped[];
}

type Form = Pick<CommonOptions, 'output' | 'headers' | 'lang'>;

export function statusText(
  { facts, inventory, findings, skipped }: StatusPage,
  form: Form,
): string {
  const options = { wide: form.output === 'wide', headers: form.headers };
  const configs = read(facts.configs);
  const clusters = read(facts.clusters);
  const blocks = [
    [versionLine(facts, inventory), partLines(facts, inventory, form.lang)],
    configs.length > 0 ? [formatTable(configColumns(facts.now), configs, options)] : [],
    clusters.length > 0 ? [formatTable(clusterColumns(facts), clusters, options)] : [],
    [countLine(findings, form.lang), ...findingLines(findings, form.lang)],
    skippedLines(skipped, form.lang),
  ];
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

function read<T>(fact: Fact<readonly T[]>): readonly T[] {
  return fact.state === 'read' ? fact.value : [];
}

/** Returns the operator's version: its own answer, else the label of its Deployment. */
export function versionLine({ versions }: SystemFacts, inventory?: Fact<InventoryState>): string {
  const label = read(versions).find(({ part }) => part === 'operator')?.version;
  const version = inventory?.state === 'read' ? inventory.value.version : label;
  return `MultiNIC ${version ?? '-'}`;
}

function partLines(facts: SystemFacts, inventory: Fact<InventoryState>, lang: Language): string {
  const rows = read(facts.parts).map((part) => [
    part.part,
    words[isHealthy(part) ? 'ok' : 'fail'][lang],
    partText(part, facts, lang),
  ]);
  const state =
    inventory.state === 'read'
      ? ['inventory', words.ok[lang], `${inventory.value.milliseconds} ms`]
      : ['inventory', words.skip[lang], inventory.why[lang]];
  return aligned([...rows, state]);
}

function isHealthy({ problem, part, leader }: PartHealth): boolean {
  return problem === undefined && (part !== 'operator' || leader !== undefined);
}

function partText(
  { part, leader, readyReplicas, replicas, problem }: PartHealth,
  { configs, now }: SystemFacts,
  lang: Language,
): string {
  const ready = filled(screensTexts.replicasReady, { readyReplicas, replicas })[lang];
  if (problem !== undefined) return `${ready}: ${problem}`;
  if (part !== 'operator') return ready;
  if (leader === undefined) return screensTexts.noReplicaLeads[lang];
  const syncs = read(configs).flatMap(({ status }) => status?.lastSyncedAt ?? []);
  const age = ageOf(syncs.toSorted().at(-1), now)[lang];
  if (age === '') return filled(screensTexts.leader, { leader })[lang];
  return filled(screensTexts.leaderSynced, { leader, age })[lang];
}

function readyOf({ status }: OpenstackConfig) {
  return findCondition(status?.conditions, 'Ready');
}

function countText(value: number | undefined): string {
  return value === undefined ? '-' : String(value);
}

function configColumns(now: Date): Column<OpenstackConfig>[] {
  return [
    { title: 'OPENSTACKCONFIG', cell: (each) => keyOf(each) },
    { title: 'READY', cell: (each) => readyOf(each)?.status ?? 'Unknown' },
    { title: 'REASON', cell: (each) => readyOf(each)?.reason ?? '' },
    { title: 'SERVERS', cell: ({ status }) => countText(status?.summary?.servers) },
    { title: 'NODES', cell: ({ status }) => countText(status?.summary?.nodes) },
    { title: 'NICS', cell: ({ status }) => status?.summary?.nics ?? '-' },
    { title: 'UNUSED', cell: ({ status }) => countText(status?.summary?.filteredPorts) },
    { title: 'LAST SYNC', cell: ({ status }) => ageOf(status?.lastSyncedAt, now).en || '-' },
    { title: 'CLUSTER', cell: (each) => providerOf(each) },
  ];
}

function keyOf({ metadata }: OpenstackConfig): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`;
}

function providerOf({ spec, status }: OpenstackConfig): string {
  const { k8sProviderID, openstackProviderID } = spec.credentials ?? {};
  return k8sProviderID ?? openstackProviderID ?? status?.deliveredTo?.[0] ?? '-';
}

function countOf(state: keyof ClusterView['nics']): (each: ClusterView) => string {
  return ({ nics }) => String(nics[state]);
}

function clusterColumns({ versions, now }: SystemFacts): Column<ClusterView>[] {
  const controllers = read(versions).filter(({ part }) => part === 'controller');
  const version = (id: string) =>
    controllers.find(({ providerId }) => providerId === id)?.version ?? '-';
  return [
    { title: 'CLUSTER', cell: ({ providerId }) => providerId },
    { title: 'REACHABLE', cell: ({ reachable }) => yesNo(reachable) },
    { title: 'RIGHTS', cell: ({ missingRights }) => rightsText(missingRights) },
    { title: 'CONTROLLER', cell: ({ providerId }) => version(providerId) },
    { title: 'NODES', cell: ({ nodes }) => String(nodes) },
    { title: 'CONFIGURED', cell: countOf('Configured') },
    { title: 'IN PROGRESS', cell: (each) => String(each.nics.InProgress + each.nics.Pending) },
    { title: 'FAILED', cell: countOf('Failed') },
    { title: 'DRIFTED', cell: ({ drifted }) => String(drifted) },
    { title: 'OLDEST CHECK', cell: ({ oldestCheck }) => ageOf(oldestCheck, now).en || '-' },
  ];
}

function yesNo(value: boolean | undefined): string {
  if (value === undefined) return '-';
  return value ? 'yes' : 'no';
}

function rightsText(missing: readonly string[] | undefined): string {
  if (missing === undefined) return '-';
  return missing.length === 0 ? 'ok' : `${missing.length} missing`;
}

/** Returns the items of the JSON report. */
export function itemsOf({ parts, configs, clusters }: SystemFacts): object[] {
  return [
    ...read(parts).map((part) => ({ kind: 'Part', ...part })),
    ...read(configs).map((config) => ({
      kind: 'OpenstackConfig',
      namespace: config.metadata.namespace,
      name: config.metadata.name,
      providerId: providerOf(config),
      status: config.status ?? {},
    })),
    ...read(clusters).map((cluster) => ({ kind: 'Cluster', ...cluster })),
  ];
}
