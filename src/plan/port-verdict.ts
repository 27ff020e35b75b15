import type { InterfaceSpec } from '../api/multinicnodeconfig.ts';
import type { PortReason } from '../api/reasons.ts';
import type { Block, Claim } from './claims.ts';
import { isAfterBaseline, isAllowedStatus, matchSubnet } from './entry.ts';
import { type FixedIp, isPlugged, type Port } from './observation.ts';
import { isOwn } from './ownership.ts';
import type { PortVerdict } from './plan.ts';
import type { View } from './view.ts';

/** Reason for a port without NIC. */
export interface Obstacle {
  readonly reason: PortReason;
  readonly message: string;
}

/** Returns the verdict for a port with a NIC. A port not plugged by Nova keeps its NIC and is reported. */
export function nicVerdict(port: Port, nic: string, view: View): PortVerdict {
  const verdict = { ...subjectOf(port, view), nic };
  if (isPlugged(port)) return verdict;
  const { reason, message } = notPlugged(port);
  return { ...verdict, reason, message: `${message}; the port stays ${nic} ${untilWhen}` };
}

const untilWhen =
  'until it is detached, or the annotation multinic.io/allow-removals gets a new value';

/** Returns the verdict for a port without NIC. */
export function noNicVerdict(port: Port, obstacle: Obstacle, view: View): PortVerdict {
  return { ...subjectOf(port, view), ...obstacle };
}

/** Returns the verdicts for a server whose object stays unchanged. */
export function verdictsOfBlocked(
  { serverId, existing }: Claim,
  blocked: Block,
  view: View,
): PortVerdict[] {
  // A waiting claim's object will be deleted together with its NICs.
  const stays = blocked.kind === 'problem' && existing?.spec.instanceId === serverId;
  const own = stays && isOwn(existing, view.input.owner, view.input.force);
  const delivered = own ? (existing.spec.interfaces ?? []) : [];
  return view.portsOf(serverId).map((port) => {
    const nic = nameIn(delivered, port);
    if (nic !== undefined) return nicVerdict(port, nic, view);
    return noNicVerdict(port, obstacleOf(port, view, false) ?? obstacleOfBlock(blocked), view);
  });
}

function nameIn(entries: readonly InterfaceSpec[], { id }: Port): string | undefined {
  const entry = entries.find(({ portId }) => portId === id);
  return entry && nameOf(entry);
}

/** Returns an entry's NIC name: entries from the legacy operator may have only an id. */
export function nameOf({ name, id = 0 }: Pick<InterfaceSpec, 'name' | 'id'>): string {
  return name ?? `multinic${id}`;
}

function obstacleOfBlock(blocked: Block): Obstacle {
  if (blocked.kind === 'waits') return { reason: 'Waiting', message: blocked.why };
  const { reason, message } = blocked.problem;
  return { reason, message };
}

/**
 * Returns why a port without NIC cannot become a NIC, judged by the port alone; undefined: no obstacle. `hadNic`: the
 * port had a NIC before, so neither age nor owner counts.
 */
export function obstacleOf(port: Port, view: View, hadNic: boolean): Obstacle | undefined {
  if (port.fixedIps.length === 0) return withoutAddress;
  const ip = selectedAddress(port, view);
  if (ip === undefined) return notSelected;
  if (!hadNic && !isPlugged(port)) return notPlugged(port);
  const match = matchSubnet(port, view);
  if (match.kind === 'unknown') return subnetUnread;
  if (match.kind === 'none') return withoutUsableAddress(port, ip, view);
  if (!isAllowedStatus(port, view.input.selection)) return wrongStatus(port, view);
  return hadNic ? undefined : ageObstacle(port, view);
}

// Shared constants: most ports in a cloud are in unselected subnets.
const withoutAddress: Obstacle = {
  reason: 'PortWithoutAddress',
  message: 'the port has no address',
};
const notSelected: Obstacle = {
  reason: 'SubnetNotSelected',
  message: 'the port has no address in a selected subnet',
};

const subnetUnread: Obstacle = {
  reason: 'NetworkUnread',
  message: 'a selected subnet of the port could not be read',
};

function selectedAddress({ fixedIps }: Port, { rank }: View): FixedIp | undefined {
  return fixedIps.find(({ subnetId }) => rank.has(subnetId));
}

function subjectOf(port: Port, view: View) {
  const address = selectedAddress(port, view)?.ipAddress;
  return { portId: port.id, serverId: port.deviceId, ...(address ? { address } : {}) };
}

function notPlugged({ deviceOwner }: Port): Obstacle {
  const message = `device_owner of the port is "${deviceOwner}", not compute:<zone>, so Nova did not plug it`;
  return { reason: 'PortNotPlugged', message };
}

function withoutUsableAddress(port: Port, { subnetId, ipAddress }: FixedIp, view: View): Obstacle {
  const subnet = view.subnets.get(subnetId);
  if (subnet && subnet.networkId !== port.networkId) {
    const message = `the port is in network ${port.networkId}, but its subnet ${subnetId} in ${subnet.networkId}`;
    return { reason: 'InvalidPort', message };
  }
  const families = view.input.selection.addressFamilies.join(', ');
  const message = `address ${ipAddress} of the port is of a family that spec.settings.addressFamilies (${families}) does not list`;
  return { reason: 'FamilyNotWanted', message };
}

function wrongStatus({ status }: Port, { input }: View): Obstacle {
  const { statuses } = input.selection;
  const allowed = statuses === 'any' ? '*' : statuses.join(', ');
  const message = `status of the port is ${status}; spec.settings.openstackPortAllowedStatuses allows ${allowed}`;
  return { reason: 'PortStatus', message };
}

function ageObstacle({ createdAt }: Port, { input }: View): Obstacle | undefined {
  const baseline = input.selection.createdAfter;
  if (isAfterBaseline(createdAt, baseline)) return undefined;
  const age =
    createdAt === undefined
      ? `Neutron reports no creation time of the port, and ports must be created after ${baseline}`
      : `the port was created at ${createdAt}, before ${baseline}`;
  const message = `${age}; spec.settings.portBaseline: All uses ports of any age`;
  return { reason: 'PortTooOld', message };
}
