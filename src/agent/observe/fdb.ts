import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import * as z from 'zod';

/** Returns unicast MACs, lower case, the link receives frames for besides its own MAC. */
export type UnicastFilter = (link: string) => Promise<readonly string[]>;

/** Entry in the output of `bridge -j fdb show dev LINK`. */
const fdbShow = z.array(z.object({ mac: z.string(), flags: z.array(z.string()).default([]) }));

/** Time limit in ms: `bridge` waits only for the kernel's rtnl lock. */
const lifetimeMs = 120_000;

const run = promisify(execFile);

/**
 * Reads a link's unicast filter from the forwarding database. The kernel also lists macvlans inside a Pod's namespace,
 * invisible to `ip link`. Returns an empty list for a missing link.
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

/** Returns unicast entries on the link itself; throws a ZodError on any other text. */
export function parseUnicastFilter(json: string): string[] {
  const entries = fdbShow.parse(JSON.parse(json));
  return entries.flatMap(({ mac, flags }) =>
    flags.includes('self') && !isGroup(mac) ? [mac.toLowerCase()] : [],
  );
}

/** True if the lowest bit in the first byte marks a group address (IEEE 802). */
function isGroup(mac: string): boolean {
  return (Number.parseInt(mac.slice(0, 2), 16) & 1) === 1;
}
