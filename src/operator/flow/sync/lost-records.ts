import { counted } from '../../../api/counted.ts';
import type { ExistingNodeConfig } from '../../../api/node-configs-http.ts';
import { isOfName } from '../../../plan/ownership.ts';
import type { RecordedNode } from '../../../plan/plan.ts';
import type { DeliveryRecords } from '../../clusters/deliver/legacy/delivery-records.ts';
import { type ConfigObject, statusOf } from '../../model/openstack-config.ts';
import { StepFailure } from '../../model/step-failure.ts';
import type { PlanContext } from '../../model/sync-context.ts';

interface Known {
  readonly held: readonly ExistingNodeConfig[];
  readonly recorded: readonly RecordedNode[];
  readonly records: Pick<DeliveryRecords, 'knows'>;
}

/**
 * Throws StepFailure when the status lists deliveries through a legacy Viola but the inventory knows no node:
 * the NICs would get new indexes. A new multinic.io/reconcile-at value accepts new indexes.
 */
export async function refuseLostRecords(
  { object, config, source, isForced }: PlanContext,
  { held, recorded, records }: Known,
): Promise<void> {
  if (config.viola.compatibility !== 'legacy' || isForced) return;
  const isKnown =
    recorded.some(({ interfaces }) => interfaces.length > 0) ||
    held.some((node) => isOfName(node.source, source));
  const nodes = deliveredNodes(object, config.providerId);
  if (isKnown || nodes === 0) return;
  // These may all lack records: a partial sync (reads only its servers' records), a new business cluster,
  // failed POSTs.
  const serverIds = (statusOf(object).nodes ?? []).flatMap(({ instanceId }) => instanceId ?? []);
  if (await records.knows(source, serverIds)) return;
  const message = `the inventory has no record of the ${counted(nodes, 'node')} delivered to business cluster "${config.providerId}" through a legacy Viola, so the indexes of their NICs are unknown; restore the inventory, or set the annotation multinic.io/reconcile-at to a new value to assign new indexes`;
  throw new StepFailure({ reason: 'ViolaPostError', message });
}

/** Returns the number of nodes with NICs in the last plan for the business cluster. */
function deliveredNodes(object: ConfigObject, providerId: string): number {
  const { summary, deliveredTo = [] } = statusOf(object);
  return deliveredTo.includes(providerId) ? (summary?.nodes ?? 0) : 0;
}
