import type { metricTable } from '../../../api/metrics.ts';
import type { Metrics } from '../../../process/metrics.ts';
import type { ConfigMemory, TermMemory } from '../../model/memory/config-memory.ts';
import { nicsNotReadyReason, notReadyReasons } from '../status/not-ready-reasons.ts';

type Memories = Iterable<readonly [string, Pick<ConfigMemory, 'term'>]>;

/**
 * Exports the number of OpenstackConfigs without Ready True, and without NICsReady True, by reason. A reason without
 * OpenstackConfigs stays, with 0.
 */
export function sampleNotReady(
  metrics: Pick<Metrics<typeof metricTable>, 'sampleEach'>,
  memories: Memories,
): void {
  metrics.sampleEach(
    'multinic_openstack_configs_not_ready',
    countedBy(memories, (term) => notReadyReasons.of(term)),
  );
  metrics.sampleEach(
    'multinic_openstack_configs_nics_not_ready',
    countedBy(memories, (term) => [nicsNotReadyReason.of(term) ?? []].flat()),
  );
}

function countedBy(memories: Memories, reasonsOf: (term: TermMemory) => Iterable<string>) {
  const known = new Set<string>();
  return () => {
    const counts = new Map<string, number>();
    for (const [, { term }] of memories) {
      for (const reason of reasonsOf(term)) {
        known.add(reason);
        counts.set(reason, (counts.get(reason) ?? 0) + 1);
      }
    }
    return [...known].map((reason) => ({ labels: { reason }, value: counts.get(reason) ?? 0 }));
  };
}
