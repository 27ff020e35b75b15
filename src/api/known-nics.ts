import { isWrittenByLegacy } from './legacy-status.ts';
import type { NodeConfigStatus } from './multinicnodeconfig.ts';

/** NIC on a node, reported by the agent. */
export interface KnownNic {
  /** Lower case. */
  readonly mac: string;
  /** Undefined: not reported. */
  readonly index: number | undefined;
}

/** NICs on an object's node; `unread`: not reported by an agent for this object, which does not mean "no NICs". */
export type KnownNics =
  | { readonly kind: 'read'; readonly nics: readonly KnownNic[] }
  | { readonly kind: 'unread' };

const unread: KnownNics = { kind: 'unread' };
const none: KnownNics = { kind: 'read', nics: [] };

/**
 * Returns the NICs on an object's node. A list counts only for the uid in the reporting agent run: a restored
 * or recreated object has not read its node yet. Records of earlier versions name no `requested` NICs; their list is
 * from the run in the record. On hosts of the legacy system the legacy controller's `interfaceStatuses` count until the
 * first run; a status without them reports no NICs.
 */
export function knownNics(
  { uid, creationTimestamp }: ObjectIdentity,
  status: NodeConfigStatus | undefined,
): KnownNics {
  if (!uid || !status) return unread;
  if (isWrittenByLegacy(status)) return knownToLegacy(status, creationTimestamp);
  const { applied, knownInterfaces } = status;
  if (!applied || applied.undone || reporterOf(applied) !== uid) return unread;
  if (!knownInterfaces) return applied.knownFrom ? none : ofEarlierVersion(status);
  const nics = knownInterfaces.map(({ id, macAddress }) => ({
    mac: macAddress.toLowerCase(),
    index: id,
  }));
  return { kind: 'read', nics };
}

export interface ObjectIdentity {
  readonly uid?: string | undefined;
  /** RFC 3339. */
  readonly creationTimestamp?: string | undefined;
}

/** True if the whole status is older than the object, as after a restore. */
function isOlder(
  { interfaceStatuses = [], lastProcessed, lastInterfaceCheck }: NodeConfigStatus,
  createdAt: string | undefined,
): boolean {
  const times = [
    lastProcessed,
    lastInterfaceCheck,
    ...interfaceStatuses.map(({ lastUpdated }) => lastUpdated),
  ].map((time) => Date.parse(time ?? ''));
  const newest = Math.max(...times.filter((time) => !Number.isNaN(time)));
  return newest < Date.parse(createdAt ?? '');
}

/** Returns the object uid in the agent run with the list. */
function reporterOf({ requested, objectUid, knownFrom }: NonNullable<NodeConfigStatus['applied']>) {
  if (knownFrom) return knownFrom.uid;
  return requested === undefined ? objectUid : undefined;
}

/** Earlier versions stored only the MACs of applied NICs. */
function ofEarlierVersion({ applied }: NodeConfigStatus): KnownNics {
  if (applied?.done !== true || !applied.macs) return unread;
  return { kind: 'read', nics: applied.macs.map((mac) => ({ mac, index: undefined })) };
}

/** Returns the NICs in the legacy controller's status; without a list no NIC was inspected. */
function knownToLegacy(status: NodeConfigStatus, createdAt: string | undefined): KnownNics {
  const { interfaceStatuses } = status;
  if (interfaceStatuses === undefined || isOlder(status, createdAt)) return unread;
  const nics = interfaceStatuses.flatMap(({ macAddress, id }) =>
    macAddress === undefined ? [] : [{ mac: macAddress.toLowerCase(), index: id }],
  );
  return { kind: 'read', nics };
}
