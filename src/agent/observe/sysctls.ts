import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

// Synchronous all along: the kernel answers at once, and a round through the thread pool costs more than the answer.

/**
 * Where `net.*` settings are read and written. A container sees its own `/proc/sys` read-only, so the host's
 * `/proc/sys/net` is mounted under the host root; both show the network namespace of the process that looks.
 */
export function sysctlDirectory(hostRoot: string): string {
  const mounted = join(hostRoot, 'proc/sys/net');
  return existsSync(mounted) ? mounted : '/proc/sys/net';
}

/** Path of a setting such as `ipv6.conf.ens5.accept_ra`; the link's name may itself hold dots. */
export function sysctlPath(directory: string, family: 'ipv4' | 'ipv6', link: string, key: string) {
  return join(directory, family, 'conf', link, key);
}

/** `accept_ra` of the links by name; a link that is gone, or a kernel without IPv6, has none. */
export function readAcceptRa(directory: string, links: readonly string[]): Map<string, string> {
  const values = new Map<string, string>();
  for (const link of links) {
    const value = readSetting(directory, 'ipv6', link, 'accept_ra');
    if (value !== undefined) values.set(link, value);
  }
  return values;
}

/** Effective reverse path filter of a link: the kernel uses the larger of `all` and the link's own value. */
export function reversePathFilter(directory: string, link: string): number {
  const own = readSetting(directory, 'ipv4', link, 'rp_filter');
  const all = readSetting(directory, 'ipv4', 'all', 'rp_filter');
  return Math.max(Number(all ?? 0), Number(own ?? 0));
}

function readSetting(directory: string, family: 'ipv4' | 'ipv6', link: string, key: string) {
  try {
    return readFileSync(sysctlPath(directory, family, link, key), 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
