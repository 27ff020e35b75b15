import { findCondition } from '../../api/condition.ts';
import type { ScreenAnswer } from '../../api/dashboard/screens.ts';
import { pauseOf } from '../../api/pause.ts';
import type { ClusterView } from '../../api/read-http.ts';
import { dashboardTexts } from '../../api/texts/dashboard-screens.ts';
import type { SystemFacts } from '../../explain/facts.ts';
import { countsIn, problemsIn, skippedChecksIn } from '../../explain/findings.ts';
import { lastSyncOfAll } from '../../explain/last-sync.ts';
import { isSyncedBy, valueOf } from '../../explain/subject.ts';
import type { Examination } from '../../session/examination.ts';
import type { ConnectionReport } from '../../session/live/connection-report.ts';
import { shownGroups } from './shown-findings.ts';
import { shownPart, shownParts } from './shown-parts.ts';
import { type Gaps, mergedByCause } from './shown-sources.ts';

type FleetAnswer = ScreenAnswer<'fleet'>;

/** Most business clusters in an answer. */
const mostClusters = 200;

/** Returns the fleet: findings by cause, business clusters, parts and connections. */
export function fleetOf(
  examination: Examination,
  reports: readonly ConnectionReport[],
): FleetAnswer {
  const { facts, inventory, sections } = examination;
  const problems = problemsIn(sections);
  const clusters = valueOf(facts.clusters) ?? [];
  return {
    ...gapsOfExamination(examination),
    counts: countsIn(problems),
    findings: shownGroups(problems, facts),
    clusters: clusters.slice(0, mostClusters).map((each) => shownCluster(each, facts)),
    clusterCount: clusters.length,
    parts: shownParts(facts),
    inventory: valueOf(inventory),
    configs: configCounts(facts),
    lastSyncAt: lastSyncOfAll(facts),
    connections: reports.map(({ provider, ...report }) => ({ ...report, providerId: provider })),
    empty: valueOf(facts.configs)?.length === 0 ? dashboardTexts.noConfigs : undefined,
  };
}

/** Returns an examination's time, silent sources and optional facts. */
export function gapsOfExamination({
  at,
  unread,
  sections,
}: Examination): Gaps & Pick<FleetAnswer, 'at'> {
  const optional = skippedChecksIn(sections).filter(({ required }) => required === undefined);
  return { at, unread, skipped: mergedByCause(optional) };
}

function shownCluster(
  cluster: ClusterView,
  { controllers, versions }: SystemFacts,
): FleetAnswer['clusters'][number] {
  const fact = controllers.get(cluster.providerId);
  const [health] = (fact && valueOf(fact)?.health) ?? [];
  return { ...cluster, controller: health && shownPart(health, valueOf(versions) ?? []) };
}

function configCounts({ configs }: SystemFacts): FleetAnswer['configs'] {
  const all = valueOf(configs) ?? [];
  const ready = all.filter(({ status }) => isSyncedBy(findCondition(status?.conditions, 'Ready')));
  const paused = all.filter((config) => pauseOf(config).isPaused);
  return { all: all.length, ready: ready.length, paused: paused.length };
}
