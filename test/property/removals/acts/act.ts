import type { NodeConfig } from '../../../../src/controller/objects/stores.ts';
import type { Life } from '../life.ts';
import type { PlannedAct } from '../plan.ts';

/** An act of a user, a tool, a fault or time. */
export type Act = (life: Life, planned: PlannedAct) => Promise<void>;

/** Returns one of the items, selected by a random number from 0 to 1. */
export function pick<T>(items: readonly [T, ...T[]], number: number): T {
  return items[Math.min(Math.floor(number * items.length), items.length - 1)] ?? items[0];
}

/** Calls `change` for the live object of each host. */
export async function forLive(
  life: Life,
  hosts: readonly string[],
  change: (name: string, config: NodeConfig, host: string) => Promise<void>,
): Promise<void> {
  for (const host of hosts) {
    const config = life.cluster.liveFor(host);
    if (config) await change(config.metadata.name, config, host);
  }
}

/** Returns one or two hosts, or all hosts of the act. */
export function fewOf({ hosts, amount }: PlannedAct): readonly string[] {
  return amount < 0.8 ? hosts.slice(0, 1 + Math.floor(2.5 * amount)) : hosts;
}
