import type { KubeClient } from '../../kube/client/client.ts';
import type { Clock } from '../../time/clock.ts';

/** Context for a migration command. */
export interface Run {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Writes a progress line to standard error. */
  readonly progress: (line: string) => void;
}

/** Minimum interval between progress lines, and between reads while waiting (ms). */
const intervalMs = 1_000;

/** Polls every second until `ready` returns a value; undefined after `timeoutMs`. */
export async function waitFor<T>(
  { clock, signal }: Run,
  timeoutMs: number,
  ready: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const end = clock.monotonicMs() + timeoutMs;
  for (;;) {
    const value = await ready();
    if (value !== undefined) return value;
    if (clock.monotonicMs() >= end) return undefined;
    await clock.sleep(intervalMs, signal);
  }
}

/** Runs a step for each item in order, and writes progress at most once a second. */
export async function eachInOrder<T>(
  { clock, signal, progress }: Run,
  what: string,
  items: readonly T[],
  step: (item: T) => Promise<void>,
): Promise<void> {
  let next = clock.monotonicMs() + intervalMs;
  for (const [at, item] of items.entries()) {
    signal.throwIfAborted();
    await step(item);
    if (clock.monotonicMs() < next) continue;
    next = clock.monotonicMs() + intervalMs;
    progress(`${what}: ${at + 1} of ${items.length}`);
  }
}
