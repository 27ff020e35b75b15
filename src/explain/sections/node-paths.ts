import type { ClusterNetwork } from '../../api/cluster-networks.ts';
import { doctorTexts } from '../../api/texts/doctor.ts';
import { filled } from '../../api/texts/text.ts';
import { pathWarnings } from '../checks/node-paths.ts';
import type { Fact } from '../fact.ts';
import type { SystemFacts } from '../facts.ts';
import { addContext, noAccess } from '../missing-texts.ts';
import { valueOf } from '../subject.ts';
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
      checks: list.length > 0 ? 1 : 0,
    }));
    if (configs.value.length === 0) return [paths];
    return [paths, onFact(fact, overlapCheck)];
  });
}

const nothing: Checked = { findings: [], checks: 0 };

/** Counts the check as executed if networks for both uses are known; many network plugins publish none. */
function overlapCheck(networks: readonly ClusterNetwork[]): Checked {
  const areKnown = (['Services', 'Pods'] as const).every((each) =>
    networks.some(({ use }) => use === each),
  );
  return { findings: [], checks: areKnown ? 1 : 0 };
}

function unread<T>(provider: string): Fact<T> {
  return {
    state: 'unread',
    what: filled(doctorTexts.nodeConfigsOf, { provider }),
    why: noAccess,
    next: addContext(provider),
  };
}

function unreadNetworks<T>(provider: string): Fact<T> {
  return {
    state: 'unread',
    what: filled(doctorTexts.clusterNetworksOf, { provider }),
    why: noAccess,
    next: addContext(provider),
  };
}
