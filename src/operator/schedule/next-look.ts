import type { OpenstackConfigStatus } from '../../api/openstackconfig.ts';
import type { ConfigObject } from '../openstack-config.ts';
import type { ResolvedConfig } from '../resolve/resolve.ts';
import type { SyncResult } from '../sync-result.ts';
import type { Pace } from './pace.ts';

interface Settled {
  readonly object: ConfigObject;
  readonly config: ResolvedConfig;
  readonly synced: SyncResult;
  readonly status: OpenstackConfigStatus;
  readonly waiting: readonly string[];
}

/** When an OpenstackConfig is looked at again after a sync that came through. */
export function nextLookMs(
  { object, config, synced, status, waiting }: Settled,
  pace: Pace,
): number {
  const { delivery, isOutage } = synced;
  if (isOutage) {
    const asked = Math.max(0, ...delivery.failures.map(({ retryAfterMs = 0 }) => retryAfterMs));
    return pace.afterFailure(object, config.polling, asked);
  }
  const { downPortFastRetryMax } = config;
  const { fastAttempts = downPortFastRetryMax } = status.downPortRetry ?? {};
  return pace.afterSync(object, config.polling, {
    changed: delivery.accepted.length + delivery.removed.length > 0,
    waiting: waiting.length > 0,
    downPorts: fastAttempts < downPortFastRetryMax,
  });
}
