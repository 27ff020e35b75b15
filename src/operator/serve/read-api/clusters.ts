import type * as z from 'zod';
import { nodeConfigState } from '../../../api/multinicnodeconfig.ts';
import type { ClusterView, clusterViews, pageQuery } from '../../../api/read-http.ts';
import type { ReportedCluster } from '../../clusters/deliver/viola-clusters.ts';
import type { ViolaEndpoint } from '../../model/resolve/endpoints.ts';
import type { OperatorSettings } from '../../model/settings/operator.ts';
import type { ConfigReads } from './config-reads.ts';
import { optional } from './optional.ts';
import { pageOf } from './page-token.ts';
import type { ReportedClusters, ViolaReport } from './reported-clusters.ts';
import type { VisibleConfig } from './visible-configs.ts';

interface ClusterSources {
  readonly configs: readonly VisibleConfig[];
  /** The operator's own Viola; undefined: VIOLA_ENDPOINT is not set. */
  readonly usual: ViolaEndpoint | undefined;
  readonly reported: ReportedClusters;
  readonly settings: Pick<OperatorSettings, 'namespaceClusters'>;
  /** Business clusters visible to the caller; undefined: all. */
  readonly providers: readonly string[] | undefined;
}

/**
 * Returns the business clusters reported by Viola, with node sums. A cluster named by an OpenstackConfig but missing from
 * Viola's report is not registered, and is left out.
 */
export async function listClusters(
  { configs, usual, reported, settings, providers }: ClusterSources,
  page: z.infer<typeof pageQuery>,
  signal: AbortSignal,
): Promise<z.infer<typeof clusterViews>> {
  const named = namedIn(configs);
  const endpoints = [...(usual ? [usual] : []), ...[...named.values()].flat()];
  const reports = await reported.read(endpoints, signal);
  const ids = new Set([...named.keys(), ...[...reports.values()].flatMap(idsIn)]);
  const reads = configs.flatMap((config) => config.reads ?? []);
  const clusters = [...ids]
    .filter((id) => providers === undefined || providers.includes(id))
    .flatMap((providerId) => {
      const violas = violasOf(named.get(providerId) ?? [], usual);
      const connection = connectionOf(
        providerId,
        violas.map(({ url }) => reports.get(url)),
      );
      return connection ? [{ providerId, ...connection }] : [];
    });
  const hasNamespaceMap = settings.namespaceClusters.length > 0;
  const { items, next } = pageOf(clusters, ({ providerId }) => [providerId], page);
  return {
    items: items.map((cluster) => {
      const own = reads.filter(({ providerId }) => providerId === cluster.providerId);
      const lastSyncs = own.map(({ config, decidedAt: at }) => ({ config, at }));
      return { ...cluster, hasNamespaceMap, lastSyncs, ...sumsOf(own) };
    }),
    ...optional({ continue: next }),
  };
}

/** Returns the OpenstackConfigs' business clusters, each with the Viola endpoints. */
function namedIn(configs: readonly VisibleConfig[]): ReadonlyMap<string, readonly ViolaEndpoint[]> {
  const places = configs
    .flatMap(({ resolved, reads }) => [reads, resolved])
    .filter((place) => place !== undefined);
  const byCluster = Map.groupBy(places, ({ providerId }) => providerId);
  return new Map([...byCluster].map(([id, all]) => [id, all.map(({ viola }) => viola)]));
}

/** Orders Violas by trust: one OpenstackConfig must not replace what others read about a business cluster. */
function violasOf(
  named: readonly ViolaEndpoint[],
  usual: ViolaEndpoint | undefined,
): readonly ViolaEndpoint[] {
  const [trusted, others] = [true, false].map((is) => named.filter((one) => one.trusted === is));
  if (named.length === 0) return usual ? [usual] : [];
  const own = usual && others?.length ? [usual] : [];
  return [...(trusted ?? []), ...own, ...(others ?? [])];
}

function idsIn(report: ViolaReport): readonly string[] {
  return report.kind === 'read' ? report.items.map(({ providerId }) => providerId) : [];
}

type Connection = Pick<
  ClusterView,
  'reachable' | 'message' | 'checkedAt' | 'missingRights' | 'isLegacy'
>;

/** Returns the connection from the first report with the cluster; undefined: no Viola reports the cluster. */
function connectionOf(
  providerId: string,
  all: readonly (ViolaReport | undefined)[],
): Connection | undefined {
  const reports = all.filter((report) => report !== undefined);
  if (reports.length === 0) return { message: 'no Viola is set; set VIOLA_ENDPOINT' };
  const items = reports.flatMap((report) => (report.kind === 'read' ? report.items : []));
  const found = items.find((item) => item.providerId === providerId);
  if (found) return reportedConnection(found);
  const unread = reports.find((report) => report.kind === 'unread');
  return unread && { message: unread.why, ...optional({ isLegacy: unread.isLegacy }) };
}

function reportedConnection(cluster: ReportedCluster): Connection {
  const { reachable, message, checkedAt, rights } = cluster;
  return { reachable, message, checkedAt, ...optional({ missingRights: rights?.missing }) };
}

type Sums = Pick<ClusterView, 'nodes' | 'nics' | 'drifted' | 'oldestCheck'>;

function sumsOf(reads: readonly ConfigReads[]): Sums {
  const sum = (of: (one: ConfigReads['totals']) => number) =>
    reads.reduce((total, { totals }) => total + of(totals), 0);
  const checks = reads.flatMap(({ totals }) => totals.oldestCheck ?? []);
  const [oldest] = checks.toSorted((a, b) => Date.parse(a) - Date.parse(b));
  const counts = nodeConfigState.options.map((state): [string, number] => [
    state,
    sum(({ nics }) => nics.get(state) ?? 0),
  ]);
  return {
    nodes: sum(({ nodes }) => nodes),
    nics: Object.fromEntries(counts) as Sums['nics'],
    drifted: sum(({ drifted }) => drifted),
    ...optional({ oldestCheck: oldest }),
  };
}
