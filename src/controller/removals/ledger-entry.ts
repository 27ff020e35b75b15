import { budgetWindowMs } from '../../api/removals.ts';
import type { Clock } from '../../time/clock.ts';
import { recordOf } from '../jobs/applied.ts';
import { isCounted } from '../jobs/run-basis.ts';
import type { NodeConfig } from '../objects/stores.ts';
import type { RemovalLedger } from './ledger.ts';
import type { LedgerEntry } from './ledger-buckets.ts';
import { configUidOf } from './shares.ts';

/**
 * Stores a released object's counted removals. Returns milliseconds to wait, or undefined once stored: only then the
 * finalizer may go.
 */
export type RecordRemovals = (
  config: NodeConfig,
  signal: AbortSignal,
) => Promise<number | undefined>;

export function createRecordRemovals(
  ledger: Pick<RemovalLedger, 'store'>,
  clock: Pick<Clock, 'now'>,
): RecordRemovals {
  return async (config, signal) => {
    const entries = entriesOf(config, clock.now());
    return entries.length === 0 ? undefined : ledger.store(entries, signal);
  };
}

/** Returns an entry per node that lost NICs. */
function entriesOf(config: NodeConfig, now: Date): LedgerEntry[] {
  const record = recordOf(config);
  if (!record) return [];
  const counted = (record.removed ?? []).filter(
    (removal) => isCounted(removal) && Date.parse(removal.at) > now.getTime() - budgetWindowMs,
  );
  const source = configUidOf(config);
  const byNode = Map.groupBy(counted, ({ node = record.nodeName }) => node);
  return [...byNode].map(([node, removals]) => ({
    uid: config.metadata.uid ?? '',
    node,
    ...(source === '' ? {} : { config: source }),
    macs: [...new Set(removals.map(({ mac }) => mac))].toSorted(),
  }));
}
