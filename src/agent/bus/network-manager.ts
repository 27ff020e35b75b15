import type { Argument, Value } from './message.ts';
import { SystemBus } from './system-bus.ts';

const service = 'org.freedesktop.NetworkManager';
const root = '/org/freedesktop/NetworkManager';
/** NM_SETTINGS_CONNECTION_FLAG_NM_GENERATED: a profile NetworkManager made by itself. */
const generated = 0x2;
/**
 * NM_SETTINGS_CONNECTION_FLAG_VOLATILE and _EXTERNAL (since 1.26): a profile mirroring foreign configuration on the
 * NIC, such as a user's own DHCP client. Disconnecting would remove the foreign configuration for good.
 */
const mirroring = 0x4 | 0x8;

/** NIC with its current link name, so no other NIC is meant. */
export interface ManagedNic {
  readonly name: string;
  readonly mac: string;
  /** True if a user's profile is adopted; otherwise only an automatic profile is released. */
  readonly isAdopted?: boolean;
}

/**
 * Makes NetworkManager remove configuration set by an automatic profile; a user's profile stays active unless adopted.
 * Returns why nothing was removed. Rejects if the bus or NetworkManager does not answer before `signal`.
 */
export function disconnectNic(
  socket: string,
  nic: ManagedNic,
  signal: AbortSignal,
): Promise<string | undefined> {
  return onDevice(socket, nic, signal, async (bus, device) => {
    const active = String(await property(bus, device, `${service}.Device`, 'ActiveConnection'));
    // An earlier run has disconnected the NIC already, and got no further.
    if (active === '/') return undefined;
    const connection = `${service}.Connection.Active`;
    const profile = String(await property(bus, active, connection, 'Connection'));
    const flags = await property(bus, profile, `${service}.Settings.Connection`, 'Flags');
    const problem = problemWith(flags, nic);
    if (problem !== undefined) {
      return `profile "${String(await property(bus, active, connection, 'Id'))}" ${problem}`;
    }
    await call(bus, device, `${service}.Device`, 'Disconnect');
    return undefined;
  });
}

/** Returns why a profile is neither adopted nor an automatic profile for a NIC without a profile. */
function problemWith(flags: Value, { isAdopted = false }: ManagedNic): string | undefined {
  if (typeof flags !== 'number' || !(isAdopted || (flags & generated) !== 0))
    return 'is not auto-generated';
  return (flags & mirroring) === 0 ? undefined : 'mirrors foreign configuration';
}

/**
 * Makes NetworkManager ignore the NIC until the next boot. Existing configuration stays on the NIC, so callers
 * disconnect first and wait. Returns and rejects like `disconnectNic`.
 */
export function unmanageNic(
  socket: string,
  nic: ManagedNic,
  signal: AbortSignal,
): Promise<string | undefined> {
  return onDevice(socket, nic, signal, async (bus, device) => {
    await setManaged(bus, device, false);
    return undefined;
  });
}

/**
 * Makes NetworkManager configure the NIC again, by the best profile. Returns and rejects like `disconnectNic`; rejects
 * without a profile for the NIC.
 */
export function activateNic(
  socket: string,
  nic: ManagedNic,
  signal: AbortSignal,
): Promise<string | undefined> {
  return onDevice(socket, nic, signal, async (bus, device) => {
    await setManaged(bus, device, true);
    const best = [{ object: '/' }, { object: device }, { object: '/' }];
    await call(bus, root, service, 'ActivateConnection', ...best);
    return undefined;
  });
}

async function setManaged(bus: SystemBus, device: string, isManaged: boolean): Promise<void> {
  const managed = [{ text: `${service}.Device` }, { text: 'Managed' }, { variant: isManaged }];
  await call(bus, device, properties, 'Set', ...managed);
}

async function onDevice(
  socket: string,
  { name, mac }: ManagedNic,
  signal: AbortSignal,
  work: (bus: SystemBus, device: string) => Promise<string | undefined>,
): Promise<string | undefined> {
  using bus = await SystemBus.connect(socket, signal);
  const device = String(await call(bus, root, service, 'GetDeviceByIpIface', { text: name }));
  const deviceMac = String(await property(bus, device, `${service}.Device.Wired`, 'HwAddress'));
  return deviceMac.toLowerCase() === mac
    ? await work(bus, device)
    : `device ${name} has MAC ${deviceMac}`;
}

const properties = 'org.freedesktop.DBus.Properties';

function call(
  bus: SystemBus,
  path: string,
  on: string,
  member: string,
  ...given: Argument[]
): Promise<Value> {
  return bus.call({ destination: service, path, interface: on, member, arguments: given });
}

function property(bus: SystemBus, path: string, on: string, name: string): Promise<Value> {
  return call(bus, path, properties, 'Get', { text: on }, { text: name });
}
