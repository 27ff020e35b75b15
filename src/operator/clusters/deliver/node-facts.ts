import { findCondition } from '../../../api/condition.ts';
import { nicReason } from '../../../api/job.ts';
import {
  type InterfaceSpec,
  type NodeConfigStatus,
  nodeReadyType,
} from '../../../api/multinicnodeconfig.ts';
import type { ExistingNodeConfig, UnreadableNode } from '../../../api/node-configs-http.ts';
import { isOnlyPaused } from '../../../api/observed-node.ts';
import type { NodeReason } from '../../../api/reasons.ts';
import { entryWithLowerIds } from '../../../plan/view.ts';

/** A MultiNicNodeConfig's state for OpenstackConfig conditions. */
export interface NodeFacts extends Pick<ExistingNodeConfig, 'nodeName' | 'uid' | 'generation'> {
  readonly source: ExistingNodeConfig['source'];
  readonly isLeaving: boolean;
  /** Undefined: the business cluster reports no status. */
  readonly state: string | undefined;
  /** Whether the status is for the present generation. */
  readonly isCurrent: boolean;
  /** For each entry in `spec.interfaces`: whether the node has configured the NIC. */
  readonly configured: readonly boolean[];
  /** Why a NIC is not configured; undefined: the status gives no reason. */
  readonly why: string | undefined;
  /** True: the status is the result of a check in mode Observe. */
  readonly isObserved: boolean;
}

/** A business cluster's MultiNicNodeConfigs by node name; the same Map while nothing changes. */
export type ClusterFacts = ReadonlyMap<string, NodeFacts>;

/** Returns facts about an object. No other function decides whether a NIC is configured. */
export function factsOf(node: ExistingNodeConfig): NodeFacts {
  const { nodeName, uid, generation, source, deletionTimestamp, spec, status } = node;
  const isLeaving = deletionTimestamp !== undefined;
  const entries = (spec.interfaces ?? []).map(entryWithLowerIds);
  const isKnown = status !== undefined && isOfNode(status);
  return {
    nodeName,
    uid,
    generation,
    source,
    isLeaving,
    state: status?.state,
    isCurrent: status?.observedGeneration === generation,
    configured: entries.map((nic) => isKnown && isConfigured(nic, status)),
    why: isOnlyPaused(node) ? olderCrd : status && (reasonIn(status) ?? driftIn(status)),
    isObserved:
      status !== undefined && findCondition(status.conditions, 'Ready')?.reason === observed,
  };
}

/** Returns facts about an unreadable object: the object exists, with unknown NIC states. */
export function unreadableFacts({
  objectName,
  uid,
  generation,
  source,
}: UnreadableNode): NodeFacts {
  return {
    nodeName: objectName,
    uid,
    generation,
    source: source ?? undefined,
    isLeaving: false,
    state: undefined,
    isCurrent: false,
    configured: [],
    why: undefined,
    isObserved: false,
  };
}

/**
 * Returns whether the NIC statuses describe the current node. If the node was rebuilt, is missing, is not ready or is
 * claimed by two objects, stale NIC statuses remain; Ready or NodeReady then names the node's problem.
 */
function isOfNode({ conditions }: NodeConfigStatus): boolean {
  if (findCondition(conditions, nodeReadyType)) return false;
  const { status, reason } = findCondition(conditions, 'Ready') ?? {};
  if (status === undefined || status === 'True' || reason === observed) return true;
  return status === 'False' && ofNics.has(reason ?? '');
}

/** Reason of Ready in mode Observe: its NIC statuses are from the last check. */
const observed = 'Observed' satisfies NodeReason;

const olderCrd =
  'the CRD in the business cluster is older than mode Observe, so the node is paused and not checked; upgrade the CRD, then set the annotation multinic.io/reconcile-at of the OpenstackConfig to a new value';

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
  return (entry?.status ?? status.state) === 'Configured' && entry?.reason !== drifted;
}

/** With drift policy `report`, a lost NIC keeps the status Configured, with this reason. */
const drifted = 'Drifted' satisfies (typeof nicReason.options)[number];

function reasonIn({ conditions }: NodeConfigStatus): string | undefined {
  const ready = findCondition(conditions, nodeReadyType) ?? findCondition(conditions, 'Ready');
  if (!ready?.reason || ready.status === 'True') return undefined;
  return ready.message ? `${ready.reason}: ${ready.message}` : ready.reason;
}

function driftIn({ interfaceStatuses = [] }: NodeConfigStatus): string | undefined {
  const nic = interfaceStatuses.find(({ reason }) => reason === drifted);
  return nic && `${drifted}: ${nic.message || 'the node differs from its MultiNicNodeConfig'}`;
}
