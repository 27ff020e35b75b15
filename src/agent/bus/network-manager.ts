import type { Argument, Value } from './message.ts';
import { SystemBus } from './system-bus.ts';

const service = 'org.freedesktop.NetworkManager';
const root = '/org/freedesktop/NetworkManager';
/** NM_SETTINGS_CONNECTION_FLAG_NM_GENERATED: a profile that NetworkManager made by itself. */
const generated = 0x2;
/**
 * NM_SETTINGS_CONNECTION_FLAG_VOLATILE and _EXTERNAL (since 1.26): one that only says what others have set on the NIC, a DHCP
 * client of somebody's own among them. Disconnecting it takes that off, and nobody puts it back.
 */
const ofOthers = 0x4 | 0x8;

/** A NIC as its link is called now, so that no other one is meant. */
export interface LeasedNic {
  readonly name: string;
  readonly mac: string;
}

/**
 * Has NetworkManager take off the NIC what it has set by one of its own automatic profiles; a profile that somebody has made
 * for it is left to work. Resolves to why that was not done. Rejects when the bus or NetworkManager does not answer until
 * `signal`.
 */
export function disconnectNic(
  socket: string,
  nic: LeasedNic,
  signal: AbortSignal,
): Promise<string | undefined> {
  return onDevice(socket, nic, signal, async (bus, device) => {
    const active = String(await property(bus, device, `${service}.Device`, 'ActiveConnection'));
    // An earlier run has asked already, and did not get any further.
    if (active === '/') return undefined;
    const connection = `${service}.Connection.Active`;
    const profile = String(await property(bus, active, connection, 'Connection'));
    const flags = await property(bus, profile, `${service}.Settings.Connection`, 'Flags');
    const problem = problemWith(flags);
    if (problem !== undefined) {
      return `its profile ${String(await property(bus, active, connection, 'Id'))} ${problem}`;
    }
    await call(bus, device, `${service}.Device`, 'Disconnect');
    return undefined;
  });
}

/** Why a profile is not one that NetworkManager made for a NIC that nobody has one for. */
function problemWith(flags: Value): string | undefined {
  if (typeof flags !== 'number' || (flags & generated) === 0)
    return 'is none that it made by itself';
  return (flags & ofOthers) === 0 ? undefined : 'is of what others have set on the NIC';
}

/**
 * Has NetworkManager leave the NIC alone until the next boot. What was set on it by then stays on it, so it is disconnected
 * before, and that is waited for. Resolves and rejects as `disconnectNic`.
 */
export function unmanageNic(
  socket: string,
  nic: LeasedNic,
  signal: AbortSignal,
): Promise<string | undefined> {
  return onDevice(socket, nic, signal, async (bus, device) => {
    const managed = [{ text: `${service}.Device` }, { text: 'Managed' }, { variant: false }];
    await call(bus, device, properties, 'Set', ...managed);
    return undefined;
  });
}

async function onDevice(
  socket: string,
  { name, mac }: LeasedNic,
  signal: AbortSignal,
  work: (bus: SystemBus, device: string) => Promise<string | undefined>,
): Promise<string | undefined> {
  using bus = await SystemBus.connect(socket, signal);
  const device = String(await call(bus, root, service, 'GetDeviceByIpIface', { text: name }));
  const has = String(await property(bus, device, `${service}.Device.Wired`, 'HwAddress'));
  return has.toLowerCase() === mac ? await work(bus, device) : `it has ${has} as ${name}`;
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
