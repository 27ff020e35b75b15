import type { Family } from './job.ts';

/** A folder or file of the host that the agent's container sees under `jobFiles.hostRoot`. */
export interface HostMount {
  readonly name: string;
  readonly path: string;
  /** Type of the hostPath volume; the kubelet starts no Pod when a `Directory` or `File` is missing. */
  readonly type: 'Directory' | 'DirectoryOrCreate' | 'File';
  readonly readOnly: boolean;
}

// The agent must start on a host of any family, to say which one that is: what a host may lack is made, and no folder says
// by being there who manages the network. Below /run it is gone at the next boot.
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
 * What shows who manages the network. Never the folders above these: they hold the sockets by which the managers, and
 * systemd itself, take orders, and a read-only mount keeps nobody from using one.
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
  // Its rules rename NICs at a boot, whatever a `.link` file says.
  read('udev-rules', '/etc/udev/rules.d'),
  ...evidence,
];

const linkFiles = written('udev-links', '/etc/systemd/network');
const keyfiles = '/etc/NetworkManager/system-connections';
const ifcfgs = '/etc/sysconfig/network-scripts';
/** Profiles that netplan, or NetworkManager by itself, made for this boot. */
const runKeyfiles = read('run-keyfiles', '/run/NetworkManager/system-connections');

/** Where netplan, and who runs a machine, put files for udev and networkd that last until the next boot. */
const runLinkFiles = read('run-networkd', '/run/systemd/network');

/** What the agent sees of a host of each family. */
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
    // An earlier generation wrote keyfiles on every host of NetworkManager.
    written('keyfiles', keyfiles),
    runKeyfiles,
    runLinkFiles,
  ],
};

/** Tells profiles of the one kind from those of the other; only where a system of the kind that has both is installed. */
export const ifcfgMount: HostMount = written('ifcfgs', ifcfgs);

/**
 * By which NetworkManager takes orders: only where the installation gives agents this right. The folder and not the socket, as
 * a host that has none would start no Pod.
 */
export const systemBusMount: HostMount = read('system-bus', '/run/dbus');

/** Mounted only when the Node reports a machine id, which the kubelet reads from this file. */
export const machineIdMount: HostMount = {
  name: 'machine-id',
  path: '/etc/machine-id',
  type: 'File',
  readOnly: true,
};
