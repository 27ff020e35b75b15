import type { Family } from './job.ts';

/** Host folder or file, visible in the agent's container under `jobFiles.hostRoot`. */
export interface HostMount {
  readonly name: string;
  readonly path: string;
  /** hostPath volume type; kubelet does not start a Pod when a `Directory` or `File` is missing. */
  readonly type: 'Directory' | 'DirectoryOrCreate' | 'File';
  readonly readOnly: boolean;
}

// The agent must start on any host to detect its network manager. Missing folders are created, so a folder's
// existence is no evidence for a network manager. Folders below /run disappear at the next boot.
const written = (name: string, path: string): HostMount => ({
  name,
  path,
  type: 'DirectoryOrCreate',
  readOnly: false,
});
const read = (name: string, path: string): HostMount => ({
  ...written(name, path),
  readOnly: true,
});

/**
 * Evidence for the active network manager. Parent folders are never mounted: they contain control sockets for network
 * managers and systemd, which a read-only mount does not protect.
 */
const evidence = [
  { name: 'usr-lib', path: '/usr/lib', type: 'Directory', readOnly: true },
  read('units', '/run/systemd/units'),
  read('networkd-links', '/run/systemd/netif/links'),
  read('networkmanager-links', '/run/NetworkManager/devices'),
] as const;

const everywhere: readonly HostMount[] = [
  written('sysctl', '/etc/sysctl.d'),
  written('state', '/var/lib/multinic'),
  // Writable through a hostPath with NET_ADMIN alone, while the container's own /proc/sys is read-only.
  { name: 'proc-sys-net', path: '/proc/sys/net', type: 'Directory', readOnly: false },
  // udev rules rename NICs at boot and override `.link` files.
  read('udev-rules', '/etc/udev/rules.d'),
  ...evidence,
];

const linkFiles = written('udev-links', '/etc/systemd/network');
const keyfiles = '/etc/NetworkManager/system-connections';
const ifcfgs = '/etc/sysconfig/network-scripts';
/** Profiles that netplan or NetworkManager generated for this boot. */
const runKeyfiles = read('run-keyfiles', '/run/NetworkManager/system-connections');

/** Folder for temporary udev and networkd files from netplan and administrators, valid until the next boot. */
const runLinkFiles = read('run-networkd', '/run/systemd/network');

/** Mounts for the agent, by network manager. */
export const hostMounts: Readonly<Record<Family, readonly HostMount[]>> = {
  netplan: [
    written('netplan', '/etc/netplan'),
    ...everywhere,
    read('run-netplan', '/run/netplan'),
    runLinkFiles,
  ],
  networkd: [written('networkd', '/etc/systemd/network'), ...everywhere, runLinkFiles],
  keyfile: [written('keyfiles', keyfiles), linkFiles, ...everywhere, runKeyfiles, runLinkFiles],
  ifcfg: [
    written('ifcfgs', ifcfgs),
    linkFiles,
    ...everywhere,
    // An earlier generation wrote keyfiles on every NetworkManager host.
    written('keyfiles', keyfiles),
    runKeyfiles,
    runLinkFiles,
  ],
};

/** Distinguishes ifcfg profiles from keyfiles; mounted only where the installed system supports both. */
export const ifcfgMount: HostMount = written('ifcfgs', ifcfgs);

/**
 * System bus for commands to the network manager; mounted only where the installation grants agents this right. The folder is
 * mounted instead of the socket, because a missing socket would prevent the Pod's start.
 */
export const systemBusMount: HostMount = read('system-bus', '/run/dbus');

/** Mounted only when the Node reports a machine id, which kubelet reads from this file. */
export const machineIdMount: HostMount = {
  name: 'machine-id',
  path: '/etc/machine-id',
  type: 'File',
  readOnly: true,
};
