import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import * as z from 'zod';

/** Returns the unicast MACs, lower case, that a link receives frames for beside its own MAC. */
export type UnicastFilter = (link: string) => Promise<readonly string[]>;

/** One entry of `bridge -j fdb show dev LINK`. */
const fdbShow = z.array(z.object({ mac: z.string(), flags: z.array(z.string()).default([]) }));

/** `bridge` waits for nothing but the kernel's rtnl lock. */
const lifetimeMs = 120_000;

const run = promisify(execFile);

/**
 * Reads the unicast filter of a link from its forwarding database. The kernel lists a macvlan there even if that is in the
 * namespace of a Pod, which `ip link` does not show. Returns nothing for a link that is gone.
 */
export async function readUnicastFilter(link: string): Promise<readonly string[]> {
  const env = { PATH: process.env['PATH'], LC_ALL: 'C' };
  const limits = { timeout: lifetimeMs, killSignal: 'SIGKILL' } as const;
  try {
    const { stdout } = await run('bridge', ['-j', 'fdb', 'show', 'dev', link], { env, ...limits });
    return parseUnicastFilter(stdout);
  } catch (error) {
    const { code, stderr = '' } = error as { code?: unknown; stderr?: string };
    if (code === 'ENOENT')
      throw new Error('there is no bridge command on PATH; install iproute2', { cause: error });
    if (stderr.includes('Cannot find device')) return [];
    throw error;
  }
}

/** Unicast entries of the link itself; throws a ZodError on any other text. */
export function parseUnicastFilter(json: string): string[] {
  const entries = fdbShow.parse(JSON.parse(json));
  return entries.flatMap(({ mac, flags }) =>
    flags.includes('self') && !isGroup(mac) ? [mac.toLowerCase()] : [],
  );
}

/** The lowest bit of the first byte marks a group address (IEEE 802). */
function isGroup(mac: string): boolean {
  return (Number.parseInt(mac.slice(0, 2), 16) & 1) === 1;
}
