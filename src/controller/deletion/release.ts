import type { Outcome } from '../../kube/reconcile/controller.ts';
import { recordOf } from '../jobs/applied.ts';
import type { NodeRecords } from '../records/node-records.ts';
import type { RecordRemovals } from '../removals/ledger-entry.ts';
import type { Report, Reporter } from '../status/report.ts';
import type { Finalizer } from './finalizer.ts';

/**
 * Removes the finalizer, once the ledger has the object's removals. `leftovers`: warning about NICs that may remain on
 * the machine; undefined: none remain.
 */
export type Release = (
  report: Report,
  signal: AbortSignal,
  leftovers?: string,
) => Promise<Outcome | void>;

export interface ReleaseOptions {
  readonly recordRemovals: RecordRemovals;
  readonly records: Pick<NodeRecords, 'take'>;
  readonly reporter: Pick<Reporter, 'warn'>;
  readonly finalizer: Pick<Finalizer, 'remove'>;
}

export function createRelease(options: ReleaseOptions): Release {
  const { recordRemovals, records, reporter, finalizer } = options;
  return async (report, signal, leftovers) => {
    const { config } = report;
    if (leftovers !== undefined) reporter.warn(config, 'NodeGone', leftovers);
    const waitMs = await recordRemovals(config, signal);
    if (waitMs !== undefined) return { requeueAfterMs: waitMs };
    report.drop();
    const record = recordOf(config);
    // Mark older records undone: the successor must not rely on work done before this object.
    if (record && !record.undone) await records.take(config, record.nodeName, signal);
    return finalizer.remove(config, signal);
  };
}
