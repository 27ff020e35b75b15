import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { NamespaceHost } from '../../rig/hosts/namespace/host.ts';
import { type HostState, stateOf, without } from './host-state.ts';

const foreignMac = '02:00:00:00:09:09';

/** Plants foreign state on a host: rules, a table, a blackhole route, a netplan file, a hand-made multinic9. */
export async function plantForeignState(host: NamespaceHost): Promise<void> {
  await host.plug('multinic9', foreignMac);
  const commands = [
    // A link-local address still being probed would make two snapshots differ.
    'link set dev multinic9 addrgenmode none',
    'link set dev multinic9 up',
    'addr add 10.99.0.9/24 dev multinic9',
    'route add default via 10.99.0.1 dev multinic9 table 109',
    'rule add from 10.99.0.9 table 109 priority 10050',
    'rule add from 10.244.0.0/16 table 200 priority 111',
    'route add 10.245.0.0/24 via 10.200.0.254 table 200',
    'route add blackhole 10.246.0.0/24',
  ];
  for (const command of commands) await host.ip(...command.split(' '));
  const file = join(host.root, 'etc/netplan/60-storage.yaml');
  const text = `network: {version: 2, ethernets: {storage: {match: {macaddress: "${foreignMac}"}}}}\n`;
  await writeFile(file, text);
  await chmod(file, 0o644);
}

/** Returns the host's state without managed NICs. */
export async function foreignState(
  host: NamespaceHost,
  ...ours: readonly string[]
): Promise<HostState> {
  return without(await stateOf(host), ...ours);
}
