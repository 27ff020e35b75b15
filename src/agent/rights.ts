import { accessSync, constants, readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { dirname, join } from 'node:path';
import { plainForm } from '../api/address.ts';
import { machineIdMount } from '../api/host-mounts.ts';
import type { JobRequest, PodRights } from '../api/job.ts';
import { observeLinks, type Site } from './observe/host.ts';
import { nodeAddressOf } from './planning/refusals.ts';

/** Numbers of capabilities (linux/capability.h). */
const capabilityNumbers: Readonly<Record<string, bigint>> = { NET_ADMIN: 12n };

/**
 * What this process lacks of what its Job gave it, but for the network of the host; undefined when it has all that it uses. The
 * mounts are looked for below `hostRoot`.
 */
export function lackedRight({ rights, action }: JobRequest, hostRoot: string): string | undefined {
  if (!rights) return undefined;
  const onlyLooks = action === 'check';
  const what = lackedUser(rights) ?? (onlyLooks ? undefined : lackedCapability(rights));
  if (what) return lacking(what);
  const shown = shownFolders();
  return rights.mounts
    .map(
      (mount) =>
        lackedMount(mount, hostRoot) ??
        lackedFolder(mount, hostRoot, shown) ??
        lackedWrite(mount, hostRoot, onlyLooks),
    )
    .find((lacked) => lacked);
}

/** Effective capabilities of this process as the hexadecimal mask of proc_pid_status(5); 1000 is CAP_NET_ADMIN alone. */
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

/** A folder of settings takes no new files and says so of itself: one of the settings answers for it. */
const answering: Readonly<Record<string, string>> = {
  '/proc/sys/net': '/proc/sys/net/ipv4/conf/default/rp_filter',
};

type Mount = PodRights['mounts'][number];

function lackedMount({ path }: Mount, hostRoot: string): string | undefined {
  const there = join(hostRoot, path);
  // No file has a name below it. Of a folder that nobody may look into everything would be taken for gone.
  const inside = path === machineIdMount.path ? there : `${there}/.`;
  const missing = inaccessible(inside, constants.R_OK);
  return missing && lacking(`the mount of ${path} (${missing})`, missing);
}

/** Where a kubelet keeps volumes of Pods that are no folders of the host: what has been done there nobody would remember. */
const volumeOfPod = /\/volumes\/(kubernetes\.io~[^/]+\/[^/]+)$/;

function lackedFolder({ path }: Mount, hostRoot: string, shown: ReadonlyMap<string, string>) {
  const [, volume] = volumeOfPod.exec(shown.get(join(hostRoot, path)) ?? '') ?? [];
  return volume && lacking(`the mount of ${path} (${volume} is there)`);
}

/** By where something is mounted the folder of its file system that is shown there (proc_pid_mountinfo(5)); the last one counts. */
function shownFolders(): ReadonlyMap<string, string> {
  const lines = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
  return new Map(
    lines.map((line) => {
      const [, , , folder = '', point = ''] = line.split(' ');
      return [point, folder];
    }),
  );
}

/** Who only looks writes nothing but its lock, which nobody needs where nobody can write (lock.ts). */
function lackedWrite({ path, writable }: Mount, hostRoot: string, onlyLooks: boolean) {
  if (!writable) return undefined;
  const refused = inaccessible(join(hostRoot, answering[path] ?? path), constants.W_OK);
  if (onlyLooks && refused === 'EROFS') return undefined;
  return refused && lacking(`a writable mount of ${path} (${refused})`, refused);
}

/** Why the file cannot be got at, as an error code; undefined when it can. */
function inaccessible(path: string, mode: number): string | undefined {
  try {
    accessSync(path, mode);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? (error as Error).message;
  }
}

/**
 * Why the network that this process sees is not that of the host, or nobody can tell; undefined when it is, or there is no NIC
 * to look for. Of another one all NICs would be taken for unplugged, and a clean-up of them for done.
 */
export async function lackedNetwork(
  { rights, protectedAddresses }: JobRequest,
  site: Site,
  macs: ReadonlySet<string>,
): Promise<string | undefined> {
  if (!rights?.hostNetwork || protectedAddresses.length + macs.size === 0) return undefined;
  // Asked first: the kernel's whole state takes longer, and shows what is not up, too.
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
    ? untold
    : lacking(`hostNetwork: no link has an address of the Node (${address})`);
}

const untold =
  'nobody can tell whether the Pod has the hostNetwork that its Job gives it: the Node has no address, and no link the MAC of a NIC of ours; nothing was touched';

/** What else than the Pod takes a right away, by error code. Root has no more than its own without CAP_DAC_OVERRIDE. */
const causesOnHost: Readonly<Record<string, string>> = {
  EROFS: '; a file system of the host that is read-only',
  EACCES: '; its owner and mode on the host, which have to let root in; SELinux',
};

function lacking(what: string, code = ''): string {
  return `the Pod lacks what its Job gives it, ${what}; nothing was touched. Look for what takes it away: admission webhook, policy, container runtime${causesOnHost[code] ?? ''}`;
}

/** Whether the result can be written in the end; throws when it cannot: what was done would be told to nobody. */
export function checkResult(path: string): void {
  let refused = inaccessible(path, constants.W_OK);
  if (refused === 'ENOENT') refused = inaccessible(dirname(path), constants.W_OK);
  if (refused === undefined) return;
  throw new Error(
    `${path} cannot be written (${refused}); nothing was touched. The container needs it as its terminationMessagePath`,
  );
}
