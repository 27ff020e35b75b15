import { randomUUID } from 'node:crypto';
import { chmod, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ip, type Output, run } from './command.ts';

/** A host for the agent made of network namespaces: real kernel, no systemd. It is up in milliseconds. */
export interface NamespaceHost extends AsyncDisposable {
  readonly name: string;
  /** Network namespace of the host. */
  readonly netns: string;
  /** Network namespace behind its NICs, with a bridge br0 that all of them are plugged into. */
  readonly fabric: string;
  /** Directory that stands for the host's files; the agent's `--host-root`. */
  readonly root: string;
  /** Plugs a NIC; it appears under this name, down, with this MAC. */
  plug(nic: string, mac: string): Promise<void>;
  /** Unplugs the NIC with this MAC, whatever its name is by now. */
  unplug(mac: string): Promise<void>;
  /** Runs a command on the host; resolves whatever its exit status is. */
  exec(command: string, ...args: readonly string[]): Promise<Output>;
  /** Runs `ip` on the host; throws with its complaint. */
  ip(...args: readonly string[]): Promise<string>;
  /** What `ip -j` says on the host. */
  ipJson(...args: readonly string[]): Promise<unknown>;
  /** Removes everything of it; may be called again. */
  down(): Promise<void>;
}

export interface HostOptions {
  /** NICs that are there from the start: MAC by name. */
  readonly nics?: Readonly<Record<string, string>>;
  /** Addresses of the fabric, `ip/prefix`: who NICs can talk to. */
  readonly fabricAddresses?: readonly string[];
}

/** The primary NIC of every host. */
export const primary = {
  nic: 'eth0',
  mac: '02:00:00:00:00:01',
  address: '10.200.0.2',
  subnet: '10.200.0.0/16',
  gateway: '10.200.0.254',
} as const;

const fabricAddresses = ['10.0.0.254/16', '10.1.0.254/16'];

/** Netplan's own file of the primary NIC, which is nobody's business but the host's. */
const primaryFile = `network:
  version: 2
  renderer: networkd
  ethernets:
    eth0:
      dhcp4: false
      addresses: [${primary.address}/16]
      routes: [{to: 0.0.0.0/0, via: ${primary.gateway}}]
`;

/** Brings up a host named after `name` and this process. Call `down` in a `finally`. */
export async function createHost(name: string, options: HostOptions = {}): Promise<NamespaceHost> {
  return hostOf(`${name}-${process.pid}`, options);
}

/** Brings up a host with exactly this name. */
export async function hostOf(name: string, options: HostOptions): Promise<NamespaceHost> {
  const host = existingHost(name);
  await host.down();
  try {
    await makeNamespaces(host, options.fabricAddresses ?? fabricAddresses);
    await makeRoot(host.root);
    for (const [nic, mac] of Object.entries(options.nics ?? {})) await host.plug(nic, mac);
    return host;
  } catch (cause) {
    await host.down();
    throw cause;
  }
}

/** A host that was brought up earlier, maybe by another process. */
export function existingHost(name: string): NamespaceHost {
  const netns = `multinic-host-${name}`;
  const fabric = `multinic-fabric-${name}`;
  const root = join(tmpdir(), `multinic-host-${name}`);
  const inside = (command: string, args: readonly string[]) =>
    run('nsenter', [`--net=/run/netns/${netns}`, '--', command, ...args]);
  const down = async (): Promise<void> => {
    // NICs first: a process that still holds the namespace would keep them alive.
    for (const outer of await outerEnds(fabric)) await ip(['-n', fabric, 'link', 'del', outer]);
    for (const namespace of [netns, fabric]) await run('ip', ['netns', 'del', namespace]);
    await rm(root, { recursive: true, force: true });
  };
  return {
    name,
    netns,
    fabric,
    root,
    plug: (nic, mac) => plug({ netns, fabric }, nic, mac),
    unplug: async (mac) => {
      await ip(['-n', fabric, 'link', 'del', outerEnd(mac)]);
    },
    exec: (command, ...args) => inside(command, args),
    ip: (...args) => ip(['-n', netns, ...args]),
    ipJson: async (...args) => JSON.parse(await ip(['-n', netns, '-j', ...args])) as unknown,
    down,
    [Symbol.asyncDispose]: down,
  };
}

/** Names of the hosts that are up. */
export async function hostNames(): Promise<string[]> {
  const list = await ip(['netns', 'list']);
  return [...list.matchAll(/^multinic-host-(\S+)/gm)].map(([, name = '']) => name);
}

type Namespaces = Pick<NamespaceHost, 'netns' | 'fabric'>;

async function makeNamespaces(host: Namespaces, addresses: readonly string[]): Promise<void> {
  await ip(['netns', 'add', host.netns]);
  await ip(['netns', 'add', host.fabric]);
  const bridge = [
    'link set dev lo up',
    // Without a fixed address a bridge takes the lowest one of its ports, and its neighbours lose it when a port comes or goes.
    'link add br0 address 02:00:00:00:ff:fe type bridge',
    'link set dev br0 mtu 9000 up',
    ...[`${primary.gateway}/16`, ...addresses].map((address) => `addr add ${address} dev br0`),
  ];
  await ip(['-n', host.fabric, '-batch', '-'], `${bridge.join('\n')}\n`);
  await plug(host, primary.nic, primary.mac);
  const own = [
    'link set dev lo up',
    // A link-local address that is still being probed would make two looks at a host differ.
    `link set dev ${primary.nic} addrgenmode none`,
    `addr add ${primary.address}/16 broadcast + dev ${primary.nic}`,
    `link set dev ${primary.nic} up`,
    `route add default via ${primary.gateway} proto static`,
  ];
  await ip(['-n', host.netns, '-batch', '-'], `${own.join('\n')}\n`);
  await kernelIsDone(host);
}

/** The kernel makes the multicast route of a NIC that came up in its own time: two looks at a host would differ by it. */
async function kernelIsDone({ netns }: Namespaces): Promise<void> {
  const routes = ['-6', 'route', 'show', 'table', 'local', 'dev', primary.nic];
  for (const end = performance.now() + 20_000; performance.now() < end; ) {
    if ((await ip(['-n', netns, ...routes])).includes('multicast')) return;
    await sleep(5);
  }
  throw new Error(`${primary.nic} of ${netns} has no multicast route: is IPv6 disabled?`);
}

async function plug({ netns, fabric }: Namespaces, nic: string, mac: string): Promise<void> {
  const outer = outerEnd(mac);
  const lines = [
    `link add ${outer} type veth peer name ${nic} address ${mac} netns ${netns}`,
    `link set dev ${outer} master br0 mtu 9000 up`,
  ];
  await ip(['-n', fabric, '-batch', '-'], `${lines.join('\n')}\n`);
}

/** Name of a NIC's end in the fabric: of its MAC, which stays, unlike its name. */
function outerEnd(mac: string): string {
  return `sw${mac.replaceAll(':', '')}`;
}

async function outerEnds(fabric: string): Promise<string[]> {
  const { stdout } = await run('ip', ['-n', fabric, '-o', 'link', 'show', 'type', 'veth']);
  return [...stdout.matchAll(/^\d+: (\w+)/gm)].map(([, name = '']) => name);
}

async function makeRoot(root: string): Promise<void> {
  // A host is of the netplan family when netplan's own folder is there.
  const folders = ['etc/netplan', 'usr/lib/netplan', 'var/lib', 'proc/sys', 'run'];
  for (const directory of folders) {
    await mkdir(join(root, directory), { recursive: true });
  }
  // The kernel shows each process the settings of its own network namespace.
  await symlink('/proc/sys/net', join(root, 'proc/sys/net'));
  await writeFile(join(root, 'etc/machine-id'), `${randomUUID().replaceAll('-', '')}\n`);
  const file = join(root, 'etc/netplan/10-primary.yaml');
  await writeFile(file, primaryFile);
  await chmod(file, 0o600);
}
