import { findCondition } from '../../api/condition.ts';
import { nicReason } from '../../api/job.ts';
import type { InterfaceSpec, NodeConfigStatus } from '../../api/multinicnodeconfig.ts';
import type { ExistingNodeConfig } from '../../api/node-configs-http.ts';
import { isSameJson } from '../../api/same-json.ts';
import type { NodePlan } from '../../plan/plan.ts';
import { entryWithLowerIds } from '../../plan/view.ts';
import type { SyncResult } from '../sync/result.ts';

/** A node with NICs that are not configured yet. */
export interface LateNode {
  readonly nodeName: string;
  readonly configured: number;
  readonly planned: number;
  /** Undefined: the business cluster gives no status. */
  readonly why: string | undefined;
}

/** How many of the planned NICs are configured on their nodes. */
export interface NicCount {
  /** Undefined: a legacy Viola, which reports no status. */
  readonly configured: number | undefined;
  readonly planned: number;
  readonly late: readonly LateNode[];
}

/**
 * Counts the NICs that are Configured in a status of the object's current generation, and that the object holds as they
 * are planned. NICs of other OpenstackConfigs are left out.
 */
export function countNics({
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
  if (!held) return { ...none, why: 'the business cluster has no object of it yet' };
  if (held.deletionTimestamp !== undefined) return { ...none, why: 'its object is being deleted' };
  const { status } = held;
  if (status?.state === undefined) return { ...none, why: undefined };
  if (status.observedGeneration !== held.generation) {
    return { ...none, why: 'its status is of an earlier generation' };
  }
  const there = (held.spec.interfaces ?? []).map(entryWithLowerIds);
  const right = interfaces.filter((nic) => there.some((entry) => isSameJson(entry, nic)));
  const configured = isOfNode(status) ? right.filter((nic) => isConfigured(nic, status)).length : 0;
  const why =
    right.length < planned
      ? 'its object does not hold what is planned yet'
      : (reasonIn(status) ?? `its state is ${status.state}`);
  return { ...none, configured, why };
}

/**
 * Whether the words on the NICs are about the node as it is. A node that was rebuilt, is missing or is meant by two objects
 * keeps the words on what was there before; then Ready says what is the matter with the whole node.
 */
function isOfNode({ conditions }: NodeConfigStatus): boolean {
  const { status, reason } = findCondition(conditions, 'Ready') ?? {};
  if (status === undefined || status === 'True') return true;
  return status === 'False' && ofNics.has(reason ?? '');
}

/** Reasons of NICs that an agent has reported on, and of removals that wait while the other NICs stay. */
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
