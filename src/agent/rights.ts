import { accessSync, constants, readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { dirname, join } from 'node:path';
import { plainForm } from '../api/address.ts';
import type { JobRequest, PodRights } from '../api/job.ts';
import { observeLinks, type Site } from './observe/host.ts';
import { nodeAddressOf } from './planning/refusals.ts';

/** Numbers of capabilities (linux/capability.h). */
const capabilityNumbers: Readonly<Record<string, bigint>> = { NET_ADMIN: 12n };

/**
 * What this process lacks of what its Job gave it, but for the network of the host; undefined when it has all. The mounts are
 * looked for below `hostRoot`.
 */
export function lackedRight(rights: PodRights, hostRoot: string): string | undefined {
  const what =
    lackedUser(rights) ??
    lackedCapability(rights) ??
    rights.mounts.map((mount) => lackedMount(mount, hostRoot)).find((lacked) => lacked);
  return what && lacking(what);
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

function lackedMount(
  { path, writable }: PodRights['mounts'][number],
  hostRoot: string,
): string | undefined {
  const missing = inaccessible(join(hostRoot, path), constants.F_OK);
  if (missing) return `the mount of ${path} (${missing})`;
  if (!writable) return undefined;
  const refused = inaccessible(join(hostRoot, answering[path] ?? path), constants.W_OK);
  return refused && `a writable mount of ${path} (${refused})`;
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

function lacking(what: string): string {
  return `the Pod lacks what its Job gives it, ${what}; nothing was touched. Look for what takes it away: admission webhook, policy, container runtime; a file system of the host that is read-only`;
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
