import { findCondition } from '../../api/condition.ts';
import { messageCodeOf } from '../../api/message-codes.ts';
import type { OpenstackConfig } from '../../api/openstackconfig.ts';
import type { ClusterView } from '../../api/read-http.ts';
import { blocks } from '../../api/reasons.ts';
import { doctorTexts } from '../../api/texts/doctor.ts';
import { amount, filled, type Wording } from '../../api/texts/text.ts';
import { keyOf } from '../commands.ts';
import type { SystemFacts } from '../facts.ts';
import type { SectionReport } from '../finding.ts';
import { reachIt, unreadViola } from '../missing-texts.ts';
import { nextFor } from '../next-steps.ts';
import { registration } from '../steps/delivery.ts';
import { providerOfConfig, valueOf } from '../subject.ts';
import { checkTime, ofMessage } from '../wording.ts';
import { type Checked, error, onFact, reportOf, warning } from './check.ts';
import { sharedClusters } from './shared-clusters.ts';

/** Examines the way from the operator through Viola to the business clusters. */
export function examineDelivery({ configs, clusters }: SystemFacts): SectionReport {
  const known = valueOf(clusters);
  const failing = known ? failingProviders(known, valueOf(configs) ?? []) : new Set<string>();
  const checked = [
    onFact(clusters, ofClusters),
    onFact(configs, (list) => ({
      findings: [
        ...(known ? unregistered(list, known) : []),
        ...list.flatMap((config) => undelivered(config, failing)),
      ],
      checks: list.length,
    })),
    sharedClusters(valueOf(configs) ?? [], known ?? []),
  ];
  const nodes = (known ?? []).reduce((sum, cluster) => sum + cluster.nodes, 0);
  const count = known?.length ?? 0;
  const summary = known ? ofKnown(nodes, count) : withoutClusters;
  return reportOf('delivery', summary, checked);
}

/** Summary when only the OpenstackConfigs were read. */
const withoutClusters = doctorTexts.noFailedDelivery;

function ofKnown(nodes: number, count: number): Wording {
  return filled(doctorTexts.deliveredNodes, {
    nodes: amount(nodes, 'node'),
    clusters: amount(count, 'business cluster'),
  });
}

/** Reachability and rights. */
const checksPerCluster = 2;

function ofClusters(clusters: readonly ClusterView[]): Checked {
  const read = clusters.filter(({ reachable }) => reachable !== undefined);
  const unread = clusters.filter(({ reachable }) => reachable === undefined);
  return {
    findings: [...read.flatMap(unreachable), ...read.flatMap(withoutRights)],
    skipped: unread.map(unreadViola),
    checks: read.length * checksPerCluster,
  };
}

function unreachable({ providerId, reachable, message, checkedAt }: ClusterView) {
  if (reachable) return [];
  const at = checkTime(checkedAt);
  const evidence = filled(doctorTexts.clusterUnreachable, { message, at });
  return [error(providerId, 'ViolaPostError', evidence, reachIt)];
}

function withoutRights({ providerId, missingRights = [] }: ClusterView) {
  if (missingRights.length === 0) return [];
  const list = missingRights.join(', ');
  const evidence = filled(doctorTexts.violaLacksRights, { list });
  return [error(providerId, 'RightsMissing', evidence, nextFor('RightsMissing', {}))];
}

function unregistered(configs: readonly OpenstackConfig[], clusters: readonly ClusterView[]) {
  const known = new Set(clusters.map(({ providerId }) => providerId));
  const wanted = new Set(configs.flatMap((config) => providerOfConfig(config) ?? []));
  return [...wanted]
    .filter((provider) => !known.has(provider))
    .map((provider) => {
      const evidence = doctorTexts.clusterNotRegistered;
      return error(provider, 'ViolaPostError', evidence, registration(provider));
    });
}

function failingProviders(
  clusters: readonly ClusterView[],
  configs: readonly OpenstackConfig[],
): ReadonlySet<string> {
  const unreached = clusters.filter(({ reachable }) => reachable === false);
  const absent = unregistered(configs, clusters).map(({ subject }) => subject);
  return new Set([...unreached.map(({ providerId }) => providerId), ...absent]);
}

/** Reasons without user action at first. */
const passing: ReadonlySet<string> = new Set([
  'Deleting',
  'DeletionDelayed',
  'RemovalUnconfirmed',
  'Waiting',
]);

function undelivered(config: OpenstackConfig, failing: ReadonlySet<string>): Checked['findings'] {
  const ready = findCondition(config.status?.conditions, 'Ready');
  const { status, reason = '', message } = ready ?? {};
  if (status !== 'False' || !blocks(reason, 'delivery')) return [];
  // The finding about the cluster is the cause.
  if (reason === 'ViolaPostError' && failing.has(providerOfConfig(config) ?? '')) return [];
  const key = keyOf(config);
  const make = passing.has(reason) ? warning : error;
  return [
    make(
      key,
      reason,
      ofMessage(reason, message),
      nextFor(reason, {
        config: key,
        code: messageCodeOf(message),
        provider: providerOfConfig(config),
      }),
    ),
  ];
}
