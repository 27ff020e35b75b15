import type { Argument, Value } from './message.ts';
import { SystemBus } from './system-bus.ts';

const networkd = 'org.freedesktop.network1';
const netplan = 'io.netplan.Netplan';

/** Rejects if networkd does not answer on the bus before `signal`. */
export async function pingNetworkd(socket: string, signal: AbortSignal): Promise<void> {
  using bus = await SystemBus.connect(socket, signal);
  await bus.call({
    destination: networkd,
    path: '/org/freedesktop/network1',
    interface: 'org.freedesktop.DBus.Peer',
    member: 'Ping',
    arguments: [],
  });
}

/**
 * Makes networkd select the link's file again, among the files in memory. Without a matching file networkd drops the
 * link's configuration; all other links stay unchanged. `Reload` would also configure all links with changed files, for
 * instance after netplan's generator. Rejects if networkd refuses, or does not answer before `signal`.
 */
export async function reconfigureLink(
  socket: string,
  index: number,
  signal: AbortSignal,
): Promise<void> {
  using bus = await SystemBus.connect(socket, signal);
  await manager(bus, 'ReconfigureLink', { int32: index });
}

function manager(bus: SystemBus, member: string, ...given: Argument[]): Promise<Value> {
  return bus.call({
    destination: networkd,
    path: '/org/freedesktop/network1',
    interface: `${networkd}.Manager`,
    member,
    arguments: given,
  });
}

/**
 * Makes netplan generate networkd's files, for the next start of networkd; the kernel does not change. Rejects with
 * netplan's words if any file on the host is invalid.
 */
export async function generateNetplan(socket: string, signal: AbortSignal): Promise<void> {
  using bus = await SystemBus.connect(socket, signal);
  const done = await bus.call({
    destination: netplan,
    path: '/io/netplan/Netplan',
    interface: netplan,
    member: 'Generate',
    arguments: [],
  });
  if (done !== true) throw new Error('netplan did not generate its files');
}
