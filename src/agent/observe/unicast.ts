import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import * as z from 'zod';

/**
 * Resolves to the unicast MACs that a link receives for beside its own: those of macvlans and the like in whatever network
 * namespace, which `ip link` does not show. A link that is gone has none.
 */
export type UnicastOf = (link: string) => Promise<readonly string[]>;

const fdbShow = z.array(z.looseObject({ mac: z.string(), flags: z.array(z.string()).default([]) }));

const lifetimeMs = 10_000;

/** Reads the unicast filter of a link with `bridge fdb show` (bridge(8)). */
export async function unicastOf(link: string, command = 'bridge'): Promise<readonly string[]> {
  const env = { PATH: process.env['PATH'], LC_ALL: 'C' };
  const options = { env, timeout: lifetimeMs, killSignal: 'SIGKILL' } as const;
  try {
    const { stdout } = await promisify(execFile)(
      command,
      ['-j', 'fdb', 'show', 'dev', link],
      options,
    );
    const entries = fdbShow.parse(JSON.parse(stdout));
    return entries
      .filter(({ mac, flags }) => flags.includes('self') && !isMulticast(mac))
      .map(({ mac }) => mac);
  } catch (error) {
    const { code, stderr = '' } = error as NodeJS.ErrnoException & { readonly stderr?: string };
    if (stderr.includes('Cannot find device')) return [];
    if (code !== 'ENOENT') throw error;
    throw new Error('there is no bridge command on PATH; install iproute2', { cause: error });
  }
}

/** The lowest bit of the first byte is set (IEEE 802). */
function isMulticast(mac: string): boolean {
  return (Number.parseInt(mac.slice(0, 2), 16) & 1) === 1;
}
