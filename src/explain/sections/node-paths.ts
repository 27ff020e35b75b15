import type { ClusterNetwork } from '../../api/cluster-networks.ts';
import { counted } from '../../api/counted.ts';
import { pathWarnings } from '../checks/node-paths.ts';
import type { Fact, Missing } from '../fact.ts';
import type { SystemFacts } from '../facts.ts';
import { addContext, noAccess } from '../missing-texts.ts';
import { valueOf } from '../subject.ts';
import { say } from '../wording.ts';
import { type Checked, onFact, warning } from './check.ts';

/** Examines whether this release's agents fail NICs reported as Configured by earlier agents. */
export function examinePaths({
  clusters,
  nodeConfigs,
  clusterNetworks,
}: SystemFacts): readonly Checked[] {
  const known = (valueOf(clusters) ?? []).map(({ providerId }) => providerId);
  const providers = [...new Set([...known, ...nodeConfigs.keys()])];
  return providers.flatMap((provider) => {
    const configs = nodeConfigs.get(provider) ?? unread(provider);
    if (configs.state !== 'read') return [onFact(configs, () => nothing)];
    const fact = clusterNetworks.get(provider) ?? unreadNetworks(provider);
    const networks = valueOf(fact) ?? [];
    const paths = onFact(configs, (list) => ({
      findings: list.flatMap((config) =>
        pathWarnings(config, networks).map(({ reason, evidence, next }) =>
          warning(`${provider}/${config.spec.nodeName}`, reason, evidence, next),
        ),
      ),
      checks: 1,
    }));
    if (configs.value.length === 0) return [paths];
    return [paths, onFact(fact, (list) => overlapCheck(list, provider, configs.value.length))];
  });
}

const nothing: Checked = { findings: [], checks: 0 };

/** Counts the check as executed if networks for both uses are known. */
function overlapCheck(
  networks: readonly ClusterNetwork[],
  provider: string,
  nodes: number,
): Checked {
  const unknown = (['Services', 'Pods'] as const).filter(
    (each) => !networks.some(({ use }) => use === each),
  );
  const skipped = unknown.map((use) => unknownNetworks(use, provider, nodes));
  return { findings: [], skipped, checks: skipped.length === 0 ? 1 : 0 };
}

function unknownNetworks(use: ClusterNetwork['use'], provider: string, nodes: number): Missing {
  const flag = use === 'Services' ? '--service-cluster-ip-range' : '--cluster-cidr';
  return {
    what: say(
      `networks for ${use} of ${provider}, to compare with the NICs of ${counted(nodes, 'node')}`,
      `노드 ${nodes}개의 NIC와 비교할 ${provider}의 ${use} 네트워크`,
    ),
    why: say('the cluster names none', '클러스터에서 찾을 수 없습니다'),
    next: say(
      `compare the subnets of the NICs with ${flag} of the cluster, or with the settings of its CNI`,
      `NIC의 서브넷을 클러스터의 ${flag} 또는 CNI 설정과 비교하십시오`,
    ),
  };
}

function unread<T>(provider: string): Fact<T> {
  return {
    state: 'unread',
    what: say(`MultiNicNodeConfigs of ${provider}`, `${provider}의 MultiNicNodeConfig`),
    why: noAccess,
    next: addContext(provider),
  };
}

function unreadNetworks<T>(provider: string): Fact<T> {
  return {
    state: 'unread',
    what: say(
      `Networks for Services and Pods of ${provider}`,
      `${provider}의 Service·Pod 네트워크`,
    ),
    why: noAccess,
    next: addContext(provider),
  };
}
