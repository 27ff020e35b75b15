import type { metricTable } from '../../../api/metrics.ts';
import type { Metrics } from '../../../process/metrics.ts';
import type { ConfigMemory } from '../../model/memory/config-memory.ts';
import { notReadyReasons } from '../status/not-ready-reasons.ts';

type Memories = Iterable<readonly [string, Pick<ConfigMemory, 'term'>]>;

/** Exports the number of not-Ready OpenstackConfigs by reason. A reason without OpenstackConfigs stays, with 0. */
export function sampleNotReady(
  metrics: Pick<Metrics<typeof metricTable>, 'sampleEach'>,
  memories: Memories,
): void {
  const known = new Set<string>();
  metrics.sampleEach('multinic_openstack_configs_not_ready', () => {
    const counts = new Map<string, number>();
    for (const [, { term }] of memories) {
      for (const reason of notReadyReasons.of(term)) {
        known.add(reason);
        counts.set(reason, (counts.get(reason) ?? 0) + 1);
      }
    }
    return [...known].map((reason) => ({ labels: { reason }, value: counts.get(reason) ?? 0 }));
  });
}
