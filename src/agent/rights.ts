import { accessSync, constants, readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { dirname, join } from 'node:path';
import { plainForm } from '../api/address.ts';
import { machineIdMount } from '../api/host-mounts.ts';
import type { JobRequest, PodRights } from '../api/job.ts';
import { type HostAccess, observeLinks } from './observe/host.ts';
import { nodeAddressOf } from './own-link.ts';

/** Capability numbers (linux/capability.h). */
const capabilityNumbers: Readonly<Record<string, bigint>> = { NET_ADMIN: 12n };

/**
 * Returns the first right from the Job that this process lacks; undefined if none. `lackedNetwork` checks the host
 * network. Mounts are checked below `hostRoot`.
 */
export function lackedRight({ rights, action }: JobRequest, hostRoot: string): string | undefined {
  if (!rights) return undefined;
  const readOnly = action === 'check';
  const what = lackedUser(rights) ?? (readOnly ? undefined : lackedCapability(rights));
  if (what) return lacking(what);
  const shown = shownFolders();
  return rights.mounts
    .map(
      (mount) =>
        lackedMount(mount, hostRoot) ??
        lackedFolder(mount, hostRoot, shown) ??
        lackedWrite(mount, hostRoot, readOnly),
    )
    .find((lacked) => lacked);
}

/**
 * Returns this process's effective capabilities as the hexadecimal mask in proc_pid_status(5); 1000 is CAP_NET_ADMIN
 * alone.
 */
export function effectiveCapabilities(): string {
  const status = readFileSync('/proc/self/status', 'utf8');
  return /^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? 'unknown';
}

function lackedUser({ user }: PodRights): string | undefined {
  const own = process.getuid?.();
  return own === user ? undefined : `runAsUser ${user} (it runs as ${own})`;
}

function lackedCapability({ capabilities }: PodRights): string | undefined {
  const effective = BigInt(`0x${effectiveCapabilities()}`);
  const lacked = capabilities.find((name) => {
    const number = capabilityNumbers[name];
    return number !== undefined && (effective & (1n << number)) === 0n;
  });
  return lacked && `the capability ${lacked}`;
}

/** A sysctl folder takes no new files and reports as unwritable: check a setting inside instead. */
const settingIn: Readonly<Record<string, string>> = {
  '/proc/sys/net': '/proc/sys/net/ipv4/conf/default/rp_filter',
};

type Mount = PodRights['mounts'][number];

function lackedMount({ path }: Mount, hostRoot: string): string | undefined {
  const mounted = join(hostRoot, path);
  // The machine id is a plain file, without `/.` below. For a folder, `/.` also checks search permission: otherwise
  // every file inside would look missing.
  const inside = path === machineIdMount.path ? mounted : `${mounted}/.`;
  const missing = inaccessible(inside, constants.R_OK);
  return missing && lacking(`the mount of ${path} (${missing})`, missing);
}

/** Kubelet path for Pod volumes other than host folders: NIC state written there would be lost. */
const volumeOfPod = /\/volumes\/(kubernetes\.io~[^/]+\/[^/]+)$/;

function lackedFolder({ path }: Mount, hostRoot: string, shown: ReadonlyMap<string, string>) {
  const [, volume] = volumeOfPod.exec(shown.get(join(hostRoot, path)) ?? '') ?? [];
  return volume && lacking(`the mount of ${path} (volume ${volume} is mounted there)`);
}

/** Returns the mounted folder by mount point (proc_pid_mountinfo(5)); the last mount counts. */
function shownFolders(): ReadonlyMap<string, string> {
  const lines = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
  return new Map(
    lines.map((line) => {
      const [, , , folder = '', point = ''] = line.split(' ');
      return [point, folder];
    }),
  );
}

/** A check writes only its lock, unnecessary on a read-only disk (lock.ts). */
function lackedWrite({ path, writable }: Mount, hostRoot: string, readOnly: boolean) {
  if (!writable) return undefined;
  const refused = inaccessible(join(hostRoot, settingIn[path] ?? path), constants.W_OK);
  if (readOnly && refused === 'EROFS') return undefined;
  return refused && lacking(`a writable mount of ${path} (${refused})`, refused);
}

/** Returns the error code for an inaccessible file; undefined if accessible. */
function inaccessible(path: string, mode: number): string | undefined {
  try {
    accessSync(path, mode);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? (error as Error).message;
  }
}

/**
 * Returns why the visible network is not the host's, or cannot be identified; undefined if correct, or without NICs to
 * look for. In a foreign network all NICs would look unplugged, and a clean-up would look complete.
 */
export async function lackedNetwork(
  { rights, protectedAddresses }: JobRequest,
  site: HostAccess,
  macs: ReadonlySet<string>,
): Promise<string | undefined> {
  if (!rights?.hostNetwork || protectedAddresses.length + macs.size === 0) return undefined;
  // Checked first: reading the kernel's whole state takes longer, but also shows links in state down.
  const up = Object.values(networkInterfaces()).flatMap((infos) => infos ?? []);
  const own = new Set(up.map(({ address }) => plainForm(address)));
  if (protectedAddresses.some((address) => own.has(plainForm(address)))) return undefined;
  const host = await observeLinks(site, macs);
  const isOfHost = host.links.some(
    (link) => macs.has(link.mac) || nodeAddressOf(link, { host, protectedAddresses }),
  );
  if (isOfHost) return undefined;
  const [address] = protectedAddresses;
  return address === undefined
    ? unidentified
    : lacking(`hostNetwork (no link has the Node address ${address})`);
}

const unidentified =
  'the agent cannot verify that the Pod has hostNetwork, as its Job requests: the Node has no address, and no link has the MAC of a managed NIC; nothing was changed';

/** Causes besides the Pod, by error code. Without CAP_DAC_OVERRIDE root has only the owner's rights. */
const causesOnHost: Readonly<Record<string, string>> = {
  EROFS: ', read-only file system of the host',
  EACCES: ', owner and mode of the path on the host (root needs access), SELinux',
};

function lacking(what: string, code = ''): string {
  return `the Pod lacks ${what}, which its Job requests; nothing was changed. Check what removes it: admission webhook, policy, container runtime${causesOnHost[code] ?? ''}`;
}

/** Throws if the result file is not writable: changes would go unreported. */
export function checkResult(path: string): void {
  let refused = inaccessible(path, constants.W_OK);
  if (refused === 'ENOENT') refused = inaccessible(dirname(path), constants.W_OK);
  if (refused === undefined) return;
  throw new Error(
    `${path} cannot be written (${refused}); nothing was changed. The container needs the file as its terminationMessagePath`,
  );
}
