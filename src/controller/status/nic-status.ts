import { ipOf } from '../../api/address.ts';
import { rfc3339, shortMessage } from '../../api/condition.ts';
import type { FoundConfiguration } from '../../api/found-configuration.ts';
import { isBeyondApply, type NicResult, nicReasonIn } from '../../api/job.ts';
import type { InterfaceStatus, NodeConfigStatus } from '../../api/multinicnodeconfig.ts';
import { interfaceName } from '../../api/names.ts';
import type { Reason } from '../../api/reasons.ts';
import { isSameJson } from '../../api/same-json.ts';
import type { Entry } from '../jobs/request.ts';

/** State, reason and message of one NIC. */
export interface NicState {
  readonly status: NonNullable<NodeConfigStatus['state']>;
  readonly reason: Reason;
  readonly message: string;
  readonly carrier?: boolean | undefined;
  readonly code?: string | undefined;
  readonly args?: string | undefined;
  readonly found?: FoundConfiguration | undefined;
}

/** Identity fields of a NIC status, requested or observed. */
export type NicIdentity = Pick<
  InterfaceStatus,
  | 'name'
  | 'interfaceIndex'
  | 'id'
  | 'portId'
  | 'macAddress'
  | 'address'
  | 'addresses'
  | 'cidr'
  | 'mtu'
>;

export interface Stamp {
  readonly before: InterfaceStatus | undefined;
  readonly now: Date;
  /** Time the agent inspected this NIC, if just reported. */
  readonly inspectedAt?: Date | undefined;
}

/** Returns one `interfaceStatuses` entry; times change only with new content. */
export function nicStatus(
  nic: NicIdentity,
  reportedState: NicState,
  stamp: Stamp,
): InterfaceStatus {
  const { before, now } = stamp;
  const { carrier: _, ...state } = reportedState;
  const reported = defined({ ...nic, ...state, message: shortMessage(state.message) });
  const lastUpdated = before && isUnchanged(before, reported) ? before.lastUpdated : undefined;
  return {
    ...reported,
    lastUpdated: lastUpdated ?? rfc3339(now),
    ...defined(inspection(reportedState, stamp)),
  };
}

/** Returns the fields of the agent's last inspection; without a new inspection they stay. */
function inspection({ status, carrier }: NicState, { before, inspectedAt }: Stamp) {
  const { lastChecked, lastConfigured } = before ?? {};
  if (!inspectedAt) return { lastChecked, lastConfigured, carrier: before?.carrier };
  const at = rfc3339(inspectedAt);
  return {
    lastChecked: at,
    lastConfigured: status === 'Configured' ? at : lastConfigured,
    carrier,
  };
}

function isUnchanged(before: InterfaceStatus, reported: InterfaceStatus): boolean {
  const { lastUpdated: _u, lastChecked: _c, lastConfigured: _f, carrier: _l, ...rest } = before;
  return isSameJson(rest, reported);
}

/** Returns the status after a check, which configures nothing. */
export function checkedStatus(
  status: InterfaceStatus,
  { carrier }: Pick<NicResult, 'carrier'>,
  at: Date,
): InterfaceStatus {
  const { carrier: _, ...rest } = status;
  return { ...rest, lastChecked: rfc3339(at), ...defined({ carrier }) };
}

/** Returns an agent's finding under this status. */
export function findingOf(nic: NicResult, status: NicState['status']): NicState {
  const { reason, message, code, args, found } = nic;
  return { status, reason, message, code, args, found };
}

const withVerdict: ReadonlySet<string> = new Set(['Failed', 'Observed', 'Pending']);

/** True if the status shows a failure beyond an apply. In mode Observe no status is Failed. */
export function hasVerdict({
  status,
  reason,
  code,
}: Pick<InterfaceStatus, 'status' | 'reason' | 'code'>): boolean {
  const known = nicReasonIn(reason);
  if (known === undefined || status === undefined || !withVerdict.has(status)) return false;
  return isBeyondApply({ state: 'Failed', reason: known, code });
}

/** True if a status shows the NIC as configured with the currently requested values. */
export function isConfigured(entry: Entry, statuses: readonly InterfaceStatus[]): boolean {
  const current = previousOf(entry, statuses);
  return (
    current?.status === 'Configured' &&
    isSameJson(requestedFields(current), requestedFields(identityOf(entry)))
  );
}

/** Matches unusable entries with the same MAC by position. */
export function previousOf({ mac, position }: Entry, previous: readonly InterfaceStatus[]) {
  const same = previous.filter(({ macAddress }) => sameMac(macAddress, mac));
  return same.find(({ interfaceIndex }) => interfaceIndex === position) ?? same[0];
}

/** Returns the NIC's identity from the spec, with its actual kernel name. */
export function identityOf({ shown, position, mac, index }: Entry, realName?: string): NicIdentity {
  const { portId, address, cidr, mtu } = shown;
  const addresses = shown.addresses?.filter((text) => ipOf(text) !== address) ?? [];
  const name = realName ?? (index === undefined ? undefined : interfaceName(index));
  const id = index;
  return defined({
    name,
    interfaceIndex: position,
    id,
    portId,
    macAddress: mac,
    address,
    ...(addresses.length > 0 ? { addresses: shown.addresses } : {}),
    cidr,
    mtu,
  });
}

export function requestedFields({ id, macAddress, address, cidr, mtu }: NicIdentity) {
  return { id, macAddress, address, cidr, mtu };
}

/** Returns the identity for a NIC on the node without an entry in the spec. */
export function unremovedNic(nic: NicResult, before: InterfaceStatus | undefined): NicIdentity {
  const { address, addresses, cidr, mtu, portId = nic.portId } = before ?? {};
  const name = nic.name || before?.name;
  const at = { address, addresses, cidr, mtu };
  return defined({ name, id: nic.index, portId, macAddress: nic.mac, ...at });
}

/** True if both MACs are equal; undefined equals nothing. */
export function sameMac(a: string | undefined, b: string | undefined): boolean {
  return a !== undefined && a.toLowerCase() === b?.toLowerCase();
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Returns the fields with a value. */
export function defined<T extends object>(fields: T): Defined<T> {
  const result: Defined<T> = {};
  for (const key in fields) {
    const { [key]: value } = fields;
    if (value !== undefined) result[key] = value as Defined<T>[typeof key];
  }
  return result;
}
