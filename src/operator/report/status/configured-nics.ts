import { findCondition } from '../../../api/condition.ts';
import { nicReason } from '../../../api/job.ts';
import type { InterfaceSpec, NodeConfigStatus } from '../../../api/multinicnodeconfig.ts';
import type { ExistingNodeConfig } from '../../../api/node-configs-http.ts';
import { isSameJson } from '../../../api/same-json.ts';
import type { NodePlan } from '../../../plan/plan.ts';
import { entryWithLowerIds } from '../../../plan/view.ts';
import { Slot } from '../../model/memory/slot.ts';
import type { SyncContent } from '../../model/sync-content.ts';
import type { SyncResult } from '../result.ts';

/** A node with NICs that are not configured yet. */
export interface LateNode {
  readonly nodeName: string;
  readonly configured: number;
  readonly planned: number;
  /** Undefined: the business cluster returns no status. */
  readonly why: string | undefined;
}

/** Number of planned NICs, and NICs configured on their nodes. */
export interface NicCount {
  /** Undefined: a legacy Viola, which reports no status. */
  readonly configured: number | undefined;
  readonly planned: number;
  readonly late: readonly LateNode[];
}

const counts = new Slot<SyncContent, NicCount | undefined>(() => undefined);

/** Returns a sync's count, made once per content. */
export function nicsOf(synced: SyncResult): NicCount {
  const count = counts.of(synced.content) ?? countNics(synced);
  counts.set(synced.content, count);
  return count;
}

/**
 * Counts the NICs with the planned content in the object and status Configured for the object's current
 * generation. Skips NICs from other OpenstackConfigs.
 */
function countNics({
  nodes,
  held,
  reportsStatus,
}: Pick<SyncResult, 'nodes' | 'held' | 'reportsStatus'>): NicCount {
  const byName = new Map(held.map((node) => [node.nodeName, node]));
  const own = nodes.filter(({ isForeign, interfaces }) => !isForeign && interfaces.length > 0);
  if (!reportsStatus) {
    const all = own.reduce((sum, { interfaces }) => sum + interfaces.length, 0);
    return { configured: undefined, planned: all, late: [] };
  }
  const each = own.map((node) => countOf(node, byName.get(node.nodeName)));
  return {
    configured: each.reduce((sum, { configured }) => sum + configured, 0),
    planned: each.reduce((sum, { planned }) => sum + planned, 0),
    late: each.filter(({ configured, planned }) => configured < planned),
  };
}

function countOf(
  { nodeName, interfaces }: NodePlan,
  held: ExistingNodeConfig | undefined,
): LateNode {
  const planned = interfaces.length;
  const none = { nodeName, configured: 0, planned } as const;
  if (!held) return { ...none, why: 'the business cluster has no MultiNicNodeConfig for it yet' };
  if (held.deletionTimestamp !== undefined)
    return { ...none, why: 'its MultiNicNodeConfig is being deleted' };
  const { status } = held;
  if (status?.state === undefined) return { ...none, why: undefined };
  if (status.observedGeneration !== held.generation) {
    return { ...none, why: 'its status is from an earlier generation' };
  }
  const existing = (held.spec.interfaces ?? []).map(entryWithLowerIds);
  const matching = interfaces.filter((nic) => existing.some((entry) => isSameJson(entry, nic)));
  const configured = isOfNode(status)
    ? matching.filter((nic) => isConfigured(nic, status)).length
    : 0;
  const why =
    matching.length < planned
      ? 'its MultiNicNodeConfig does not have the planned NICs yet'
      : (reasonIn(status) ?? `its state is ${status.state}`);
  return { ...none, configured, why };
}

/**
 * Returns whether the NIC statuses describe the current node. If the node was rebuilt, is missing or is
 * claimed by two objects, stale NIC statuses remain; Ready then names the node's problem.
 */
function isOfNode({ conditions }: NodeConfigStatus): boolean {
  const { status, reason } = findCondition(conditions, 'Ready') ?? {};
  if (status === undefined || status === 'True') return true;
  return status === 'False' && ofNics.has(reason ?? '');
}

/** Reasons with agent-reported NICs, and RemovalHeld: a blocked removal leaves the remaining NICs unchanged. */
const ofNics: ReadonlySet<string> = new Set<string>([
  ...nicReason.options,
  'JobFailedPartial',
  'InvalidEntries',
  'RemovalHeld',
]);

function isConfigured(nic: InterfaceSpec, status: NodeConfigStatus): boolean {
  const entry = status.interfaceStatuses?.find(({ portId, macAddress, name }) => {
    if (portId && nic.portId) return portId.toLowerCase() === nic.portId;
    return macAddress ? macAddress.toLowerCase() === nic.macAddress : name === nic.name;
  });
  return (entry?.status ?? status.state) === 'Configured';
}

function reasonIn({ conditions }: NodeConfigStatus): string | undefined {
  const ready = findCondition(conditions, 'Ready');
  if (!ready?.reason || ready.status === 'True') return undefined;
  return ready.message ? `${ready.reason}: ${ready.message}` : ready.reason;
}
