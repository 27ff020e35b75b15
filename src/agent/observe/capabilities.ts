import { readFile } from 'node:fs/promises';

/** Effective capabilities of this process as the hexadecimal mask of proc_pid_status(5); 1000 is CAP_NET_ADMIN alone. */
export async function effectiveCapabilities(): Promise<string> {
  const status = await readFile('/proc/self/status', 'utf8');
  return /^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? 'unknown';
}
