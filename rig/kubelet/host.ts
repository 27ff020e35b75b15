import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as z from 'zod';

/** The machine that a stand-in kubelet runs Pods on. */
export interface HostHandle {
  /** Name of its network namespace below /run/netns; without one Pods run in this process's own. */
  readonly netns?: string;
  /** Directory that stands for the host's `/`. */
  readonly root: string;
}

/** What the host's /etc/machine-id holds, which a kubelet reports as machineID; empty without one. */
export async function readMachineId({ root }: HostHandle): Promise<string> {
  try {
    return (await readFile(join(root, 'etc/machine-id'), 'utf8')).trim();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  }
}

const routesEdge = z.tuple([z.object({ prefsrc: z.ipv4() })]);

/** The address that the host uses for the way out, which a kubelet reports as InternalIP; undefined without a way out. */
export async function findInternalIp({ netns }: HostHandle): Promise<string | undefined> {
  const namespace = netns === undefined ? [] : ['-n', netns];
  try {
    // An address of a documentation range: only the default route leads there.
    const args = [...namespace, '-j', '-4', 'route', 'get', '192.0.2.1'];
    const { stdout } = await promisify(execFile)('ip', args);
    return routesEdge.parse(JSON.parse(stdout))[0].prefsrc;
  } catch (error) {
    if (isUnreachable(error)) return undefined;
    throw new Error(`reading the address of ${netns ?? 'this machine'}`, { cause: error });
  }
}

/** `ip route get` ends with 2 when there is no route. */
function isUnreachable(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 2;
}
