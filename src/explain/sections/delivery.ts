import { findCondition } from '../../api/condition.ts';
import { counted } from '../../api/counted.ts';
import type { OpenstackConfig } from '../../api/openstackconfig.ts';
import type { ClusterView } from '../../api/read-http.ts';
import { blocks } from '../../api/reasons.ts';
import { holdCodeOf } from '../../api/removals.ts';
import type { Wording } from '../../api/texts/text.ts';
import { keyOf } from '../commands.ts';
import type { SystemFacts } from '../facts.ts';
import type { SectionReport } from '../finding.ts';
import { nextFor } from '../next-steps.ts';
import { reachIt, registration } from '../steps/delivery.ts';
import { providerOfConfig, valueOf } from '../subject.ts';
import { ofMessage, same, say } from '../wording.ts';
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
const withoutClusters = say(
  'no OpenstackConfig reports a failed delivery; the business clusters were not checked',
  '전달 실패를 보고하는 OpenstackConfig가 없습니다. 비즈니스 클러스터는 확인하지 않았습니다',
);

function ofKnown(nodes: number, count: number): Wording {
  return say(
    `${counted(nodes, 'node')} in ${counted(count, 'business cluster')}, 0 waiting`,
    `비즈니스 클러스터 ${count}개의 노드 ${nodes}개, 대기 중 0개`,
  );
}

/** Reachability and rights. */
const checksPerCluster = 2;

function ofClusters(clusters: readonly ClusterView[]): Checked {
  const read = clusters.filter(({ reachable }) => reachable !== undefined);
  const unread = clusters.filter(({ reachable }) => reachable === undefined);
  return {
    findings: [...read.flatMap(unreachable), ...read.flatMap(withoutRights)],
    skipped: unread.map(({ providerId, message }) => ({
      what: say(`connection of ${providerId}`, `${providerId}의 연결 상태`),
      why: message ? same(message) : say('Viola was not read', 'Viola를 조회하지 못했습니다'),
      next: say(
        'check that Viola runs and that the operator reaches it',
        'Viola가 실행 중이고 오퍼레이터가 연결할 수 있는지 확인하십시오',
      ),
    })),
    checks: read.length * checksPerCluster,
  };
}

function unreachable({ providerId, reachable, message, checkedAt }: ClusterView) {
  if (reachable) return [];
  const evidence = say(
    `Viola does not reach it: ${message}${checkedAt ? ` (checked at ${checkedAt})` : ''}`,
    `Viola가 연결하지 못합니다: ${message}${checkedAt ? ` (${checkedAt} 확인)` : ''}`,
  );
  return [error(providerId, 'ViolaPostError', evidence, reachIt)];
}

function withoutRights({ providerId, missingRights = [] }: ClusterView) {
  if (missingRights.length === 0) return [];
  const list = missingRights.join(', ');
  const evidence = say(`Viola lacks the rights ${list}`, `Viola에 권한이 없습니다: ${list}`);
  return [error(providerId, 'RightsMissing', evidence, nextFor('RightsMissing', {}))];
}

function unregistered(configs: readonly OpenstackConfig[], clusters: readonly ClusterView[]) {
  const known = new Set(clusters.map(({ providerId }) => providerId));
  const wanted = new Set(configs.flatMap((config) => providerOfConfig(config) ?? []));
  return [...wanted]
    .filter((provider) => !known.has(provider))
    .map((provider) => {
      const evidence = say(
        'no business cluster of this id is registered with Viola',
        'Viola에 이 ID의 비즈니스 클러스터가 등록되어 있지 않습니다',
      );
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
      nextFor(reason, { config: key, code: holdCodeOf(message) }),
    ),
  ];
}
