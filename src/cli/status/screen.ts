import { findCondition } from '../../api/condition.ts';
import type { OpenstackConfig } from '../../api/openstackconfig.ts';
import type { ClusterView } from '../../api/read-http.ts';
import { screensTexts } from '../../api/texts/screens.ts';
import { filled, type Language } from '../../api/texts/text.ts';
import { words } from '../../api/texts/titles.ts';
import { keyOf } from '../../explain/commands.ts';
import type { UnreadSource } from '../../explain/conclusion.ts';
import type { Fact, Missing } from '../../explain/fact.ts';
import type { PartHealth, Parts, SystemFacts } from '../../explain/facts.ts';
import type { Finding } from '../../explain/finding.ts';
import { lastSyncOf, lastSyncOfAll } from '../../explain/last-sync.ts';
import { resultOf, stateText } from '../../explain/part-health.ts';
import { emptyNamespace } from '../../explain/sections/openstack.ts';
import { controllerHealth } from '../../explain/sections/parts.ts';
import { ageOf } from '../../explain/wording.ts';
import type { InventoryState } from '../../session/facts/inventory-state.ts';
import { commandInContext } from '../../session/in-context.ts';
import type { CommonOptions } from '../options.ts';
import { findingRows } from '../output/finding-groups.ts';
import { answerLines, countLine, skippedLines } from '../output/findings.ts';
import { aligned, type Column, formatTable } from '../output/table.ts';
import { printable } from '../output/width.ts';
import type { Skipped } from '../report.ts';

export interface StatusPage {
  readonly facts: SystemFacts;
  readonly inventory: Fact<InventoryState>;
  readonly findings: readonly Finding[];
  readonly unread: readonly UnreadSource[];
  /** Optional facts. */
  readonly skipped: readonly Skipped[];
}

type Form = Pick<CommonOptions, 'output' | 'headers' | 'lang' | 'kubeconfig' | 'context'> &
  Pick<CommonOptions, 'businessContext'>;

export function statusText(
  { facts, inventory, findings, unread, skipped }: StatusPage,
  form: Form,
): string {
  const options = { wide: form.output === 'wide', headers: form.headers };
  const configs = read(facts.configs);
  const clusters = read(facts.clusters);
  const { lang } = form;
  const rows = findingRows(findings, lang, (command) => commandInContext(command, form));
  const blocks = [
    answerLines(findings, unread, lang),
    [versionLine(facts, lang, inventory), partLines(facts, inventory, lang)],
    configs.length > 0
      ? [formatTable(configColumns(facts), configs, options)]
      : emptyLines(facts, lang),
    clusters.length > 0 ? [formatTable(clusterColumns(facts), clusters, options)] : [],
    // A count of 0 would hide the required source without an answer.
    findings.length === 0 && unread.length > 0
      ? []
      : [
          countLine(findings, lang),
          ...rows.flatMap(({ head, below }) => [head, ...below.map((line) => `      ${line}`)]),
        ],
    skippedLines(skipped, lang),
  ];
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

function emptyLines(facts: SystemFacts, lang: Language): string[] {
  const text = emptyNamespace(facts);
  return text === undefined ? [] : [printable(text[lang])];
}

function read<T>(fact: Fact<readonly T[]>): readonly T[] {
  return fact.state === 'read' ? fact.value : [];
}

/** Returns the operator's version: its own answer, else the label of its Deployment. */
export function versionLine(
  { versions }: SystemFacts,
  lang: Language,
  inventory?: Fact<InventoryState>,
): string {
  const label = read(versions).find(({ part }) => part === 'operator')?.version;
  const version = inventory?.state === 'read' ? inventory.value.version : label;
  return version === undefined
    ? `MultiNIC (${screensTexts.versionUnknown[lang]})`
    : `MultiNIC ${version}`;
}

function partLines(facts: SystemFacts, inventory: Fact<InventoryState>, lang: Language): string {
  const rows = read(facts.parts).map((part) => [
    part.part,
    words[resultOf(part)][lang],
    partText(part, facts, lang),
  ]);
  const state =
    inventory.state === 'read'
      ? ['inventory', words.ok[lang], `${inventory.value.milliseconds} ms`]
      : ['inventory', words.skip[lang], unreadText(inventory, lang)];
  return aligned([...rows, state]);
}

/** The first lines name a required source's cause. */
function unreadText({ required, why }: Missing, lang: Language): string {
  return required === undefined ? why[lang] : screensTexts.notRead[lang];
}

function partText(health: PartHealth, facts: SystemFacts, lang: Language): string {
  const { part, leader, readyReplicas, replicas, installed = 'Deployment' } = health;
  const ready = filled(screensTexts.replicasReady, { readyReplicas, replicas })[lang];
  // The finding names the Pods.
  const state = stateText(health)?.[lang];
  if (state !== undefined) return installed === 'Deployment' ? `${ready}: ${state}` : state;
  if (part !== 'operator' || leader === undefined) return ready;
  const age = ageOf(lastSyncOfAll(facts), facts.now)[lang];
  if (age === '') return filled(screensTexts.leader, { leader })[lang];
  return filled(screensTexts.leaderSynced, { leader, age })[lang];
}

function readyOf({ status }: OpenstackConfig) {
  return findCondition(status?.conditions, 'Ready');
}

function countText(value: number | undefined): string {
  return value === undefined ? '-' : String(value);
}

function configColumns(facts: SystemFacts): Column<OpenstackConfig>[] {
  return [
    { title: 'OPENSTACKCONFIG', cell: (each) => keyOf(each) },
    { title: 'READY', cell: (each) => readyOf(each)?.status ?? 'Unknown' },
    { title: 'REASON', cell: (each) => readyOf(each)?.reason ?? '' },
    { title: 'SERVERS', cell: ({ status }) => countText(status?.summary?.servers) },
    { title: 'NODES', cell: ({ status }) => countText(status?.summary?.nodes) },
    { title: 'NICS', cell: ({ status }) => status?.summary?.nics ?? '-' },
    { title: 'UNUSED', cell: ({ status }) => countText(status?.summary?.filteredPorts) },
    {
      title: 'LAST SYNC',
      cell: (each) => ageOf(lastSyncOf(each, facts.clusters), facts.now).en || '-',
    },
    { title: 'CLUSTER', cell: (each) => providerOf(each) },
  ];
}

function providerOf({ spec, status }: OpenstackConfig): string {
  const { k8sProviderID, openstackProviderID } = spec.credentials ?? {};
  return k8sProviderID ?? openstackProviderID ?? status?.deliveredTo?.[0] ?? '-';
}

function countOf(state: keyof ClusterView['nics']): (each: ClusterView) => string {
  return ({ nics }) => String(nics[state]);
}

function clusterColumns({ controllers, now }: SystemFacts): Column<ClusterView>[] {
  return [
    { title: 'CLUSTER', cell: ({ providerId }) => providerId },
    { title: 'REACHABLE', cell: ({ reachable }) => yesNo(reachable) },
    { title: 'RIGHTS', cell: ({ missingRights }) => rightsText(missingRights) },
    { title: 'CONTROLLER', cell: ({ providerId }) => controllerText(controllers.get(providerId)) },
    { title: 'NODES', cell: ({ nodes }) => String(nodes) },
    { title: 'CONFIGURED', cell: countOf('Configured') },
    { title: 'IN PROGRESS', cell: (each) => String(each.nics.InProgress + each.nics.Pending) },
    { title: 'FAILED', cell: countOf('Failed') },
    { title: 'OBSERVED', cell: countOf('Observed') },
    { title: 'DRIFTED', cell: ({ drifted }) => String(drifted) },
    { title: 'OLDEST CHECK', cell: ({ oldestCheck }) => ageOf(oldestCheck, now).en || '-' },
  ];
}

/** Returns the controller's build, and its replicas unless it is healthy. */
function controllerText(fact: Fact<Parts> | undefined): string {
  if (fact?.state !== 'read') return '-';
  const [version] = fact.value.versions;
  const [unhealthy] = fact.value.health.filter((each) => resultOf(each) !== 'ok');
  const replicas = unhealthy ? `(${unhealthy.readyReplicas}/${unhealthy.replicas})` : undefined;
  return [version?.version, replicas].filter((each) => each !== undefined).join(' ') || '-';
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
export function itemsOf({ parts, controllers, configs, clusters }: SystemFacts): object[] {
  return [
    ...[...read(parts), ...controllerHealth(controllers)].map((part) => ({
      kind: 'Part',
      ...part,
    })),
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
