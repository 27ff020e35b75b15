import * as z from 'zod';
import type { NicView } from '../api/read-http.ts';

/** Changes that an apply would make to a NIC. */
export interface PendingChanges {
  readonly nic: string;
  readonly lines: readonly string[];
  /** False if the agent shortened the list. */
  readonly complete: boolean;
}

/** Changes in files, in the agent's words. */
const fileChange = /^(?:create|replace|remove) \//;

/** True for a change without an effect in the kernel before the next boot. */
export function isFileChange(line: string): boolean {
  return fileChange.test(line);
}

/** Line of the agent's log with all changes to a NIC. */
const planLine = z.object({
  msg: z.literal('plan'),
  mac: z.string(),
  steps: z.array(z.string()),
});

/**
 * Returns the changes to a NIC with drift: from the agent's log, otherwise from the status with room for 120 bytes per
 * NIC.
 */
export function pendingOf(
  { name, macAddress, message }: Pick<NicView, 'name' | 'macAddress' | 'message'>,
  log: string,
): PendingChanges {
  const logged = stepsIn(log).get(macAddress.toLowerCase());
  if (logged !== undefined) return { nic: name, lines: logged, complete: true };
  const work = message.replace(/^.*an apply would: /, '');
  return {
    nic: name,
    lines: work.split('; ').filter((line) => line !== ''),
    complete: !work.endsWith('…'),
  };
}

/** Returns the planned steps by MAC address. */
function stepsIn(log: string): Map<string, readonly string[]> {
  const lines = log.split('\n').flatMap((line) => planIn(line));
  return new Map(lines.map(({ mac, steps }) => [mac.toLowerCase(), steps]));
}

function planIn(line: string): z.infer<typeof planLine>[] {
  if (!line.includes('"plan"')) return [];
  try {
    const parsed = planLine.safeParse(JSON.parse(line));
    return parsed.success ? [parsed.data] : [];
  } catch {
    // The log may end within a line.
    return [];
  }
}
