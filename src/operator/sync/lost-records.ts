import type { ExistingNodeConfig } from '../../api/node-configs-http.ts';
import type { RecordedNode } from '../../plan/plan.ts';
import { isOfName } from '../../plan/view.ts';
import type { DeliveryRecords } from '../deliver/legacy/delivery-records.ts';
import { type ConfigObject, statusOf } from '../openstack-config.ts';
import { StepFailure } from '../status/step-failure.ts';
import type { SyncRequest } from './request.ts';

interface Known {
  readonly held: readonly ExistingNodeConfig[];
  readonly recorded: readonly RecordedNode[];
  readonly records: Pick<DeliveryRecords, 'knows'>;
}

/**
 * Throws StepFailure when the status says that nodes were delivered through a legacy Viola and the inventory knows none of
 * the OpenstackConfig's: a NIC would get another index. A new value of multinic.io/reconcile-at accepts that.
 */
export async function refuseLostRecords(
  object: ConfigObject,
  { config, source, force }: Pick<SyncRequest, 'config' | 'source' | 'force'>,
  { held, recorded, records }: Known,
): Promise<void> {
  if (config.viola.compatibility !== 'legacy' || force) return;
  const isKnown =
    recorded.some(({ interfaces }) => interfaces.length > 0) ||
    held.some((node) => isOfName(node.source, source));
  const nodes = deliveredNodes(object, config.providerId);
  if (isKnown || nodes === 0) return;
  // A sync of some servers reads the records of these only, a business cluster may be new, and POSTs may have failed.
  const serverIds = (statusOf(object).nodes ?? []).flatMap(({ instanceId }) => instanceId ?? []);
  if (await records.knows(source, serverIds)) return;
  const message = `the inventory has no record of the nodes (${nodes}) that were delivered to business cluster "${config.providerId}" through a legacy Viola, so the indexes of their NICs are unknown; restore the inventory, or set the annotation multinic.io/reconcile-at to a new value to give out indexes again`;
  throw new StepFailure({ reason: 'ViolaPostError', message });
}

/** Nodes with NICs that the last sync planned for the business cluster. */
function deliveredNodes(object: ConfigObject, providerId: string): number {
  const { summary, deliveredTo = [] } = statusOf(object);
  return deliveredTo.includes(providerId) ? (summary?.nodes ?? 0) : 0;
}
