import { findCondition } from '../../../api/condition.ts';
import type { ExistingNodeConfig } from '../../../api/node-configs-http.ts';
import type { Reason } from '../../../api/reasons.ts';
import type { RemovalBasis } from '../../../api/removals.ts';
import { deliveredFor } from '../../../plan/view.ts';
import type { DeliveredContext } from '../sync/delivery.ts';

/** Returns the delivered instance id: a user's edit of the id does not deselect the server. */
function serverOf(node: ExistingNodeConfig): string {
  return deliveredFor(node)?.toLowerCase() ?? '';
}

/** Returns why a node may leave a former business cluster. */
export function basisOf(
  node: ExistingNodeConfig,
  { source, planned, rounds }: DeliveredContext,
): RemovalBasis {
  const instanceId = serverOf(node);
  const { selection, observation } = planned.input;
  const isDeleted = observation.servers.some((server) => {
    return server.id === instanceId && server.status === 'DELETED';
  });
  const isShown = rounds.held.some((existing) => showsNode(existing, instanceId));
  if (isDeleted || isShown) return 'evidence';
  const isDeselected = selection.pinned.servers && !selection.serverIds.includes(instanceId);
  return isDeselected && node.source?.uid === source.uid ? 'named' : 'sideEffect';
}

/** Returns whether the controller applied this object on a Node with this instance id. */
function showsNode(
  { spec, status, uid, deletionTimestamp }: ExistingNodeConfig,
  instanceId: string,
): boolean {
  const { reason = '' } = findCondition(status?.conditions, 'Ready') ?? {};
  return (
    spec.instanceId?.toLowerCase() === instanceId &&
    deletionTimestamp === undefined &&
    isOnNode(status?.applied, uid) &&
    !withoutNode.has(reason)
  );
}

type Applied = NonNullable<NonNullable<ExistingNodeConfig['status']>['applied']>;

function isOnNode(applied: Applied | undefined, uid: string): boolean {
  const { nodeUid, objectUid = uid, action, undone = false } = applied ?? {};
  return nodeUid !== undefined && objectUid === uid && action === 'apply' && !undone;
}

/** Ready reasons of objects without a matching Node. */
const withoutNode: ReadonlySet<string> = new Set<Reason>([
  'NodeNotFound',
  'DuplicateSystemUUID',
  'DuplicateInstanceId',
  'OtherControllerActive',
]);
