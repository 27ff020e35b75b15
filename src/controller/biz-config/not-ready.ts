import type { metricTable } from '../../api/metrics.ts';
import { reasons } from '../../api/reasons.ts';
import type { BizConfig } from '../../biz-config/biz-config.ts';
import type { Store } from '../../kube/cache/store.ts';
import type { Metrics } from '../../process/metrics.ts';
import { otherReason, whyNotReady } from '../status/not-ready.ts';

/** Index of a group's store: a scrape counts its values and parses no object. */
export const notReadyIndex = 'not ready';

/** Returns the index values of a MultiNicBizConfig: its reason while Ready is False. */
export function notReadyReasonsIn({ status }: BizConfig): string[] {
  const reason = whyNotReady(status);
  return reason === undefined ? [] : [reason];
}

interface Watched {
  readonly store: Pick<Store<BizConfig>, 'countByIndex'>;
}

/** Reports the MultiNicBizConfigs of all watched groups that are not Ready, by reason. */
export function sampleNotReady(
  metrics: Pick<Metrics<typeof metricTable>, 'sampleEach'>,
  watches: readonly Watched[],
): void {
  const count = (reason: string): number =>
    watches.reduce((sum, { store }) => sum + store.countByIndex(notReadyIndex, reason), 0);
  metrics.sampleEach('multinic_biz_configs_not_ready', () =>
    [...Object.keys(reasons), otherReason]
      .map((reason) => ({ labels: { reason }, value: count(reason) }))
      .filter(({ value }) => value > 0),
  );
}
