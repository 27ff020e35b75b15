import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Where `net.*` settings are read and written. A container sees its own `/proc/sys` read-only, so the host's
 * `/proc/sys/net` is mounted under the host root; both show the namespace of the process that reads them.
 */
export async function sysctlDirectory(hostRoot: string): Promise<string> {
  const mounted = join(hostRoot, 'proc/sys/net');
  try {
    await access(mounted);
    return mounted;
  } catch {
    return '/proc/sys/net';
  }
}

/** Path of a setting such as `ipv6.conf.ens5.accept_ra`; the link's name may itself hold dots. */
export function sysctlPath(directory: string, family: 'ipv4' | 'ipv6', link: string, key: string) {
  return join(directory, family, 'conf', link, key);
}

/** `accept_ra` of the links by name; a link that is gone, or a kernel without IPv6, has none. */
export async function readAcceptRa(directory: string, links: readonly string[]) {
  const values = await Promise.all(
    links.map(
      async (link) => [link, await readSetting(directory, 'ipv6', link, 'accept_ra')] as const,
    ),
  );
  return new Map(values.flatMap(([link, value]) => (value === undefined ? [] : [[link, value]])));
}

/** Effective reverse path filter of a link: the kernel uses the larger of `all` and the link's own value. */
export async function reversePathFilter(directory: string, link: string): Promise<number> {
  const [all, own] = await Promise.all(
    ['all', link].map((name) => readSetting(directory, 'ipv4', name, 'rp_filter')),
  );
  return Math.max(Number(all ?? 0), Number(own ?? 0));
}

async function readSetting(directory: string, family: 'ipv4' | 'ipv6', link: string, key: string) {
  try {
    return (await readFile(sysctlPath(directory, family, link, key), 'utf8')).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
