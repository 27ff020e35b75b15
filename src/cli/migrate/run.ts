import type { KubeClient } from '../../kube/client/client.ts';
import type { Clock } from '../../time/clock.ts';

/** One run of a migration command. */
export interface Run {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Writes a line of progress (standard error). */
  readonly progress: (line: string) => void;
}

/** Milliseconds between two lines of progress, and between two reads while a command waits. */
const paceMs = 1_000;

/** Reads again every second until `ready` returns a value; undefined after `timeoutMs`. */
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
    await clock.sleep(paceMs, signal);
  }
}

/** Runs a step for each item in order, and writes how far it is at most once a second. */
export async function eachInOrder<T>(
  { clock, signal, progress }: Run,
  what: string,
  items: readonly T[],
  step: (item: T) => Promise<void>,
): Promise<void> {
  let next = clock.monotonicMs() + paceMs;
  for (const [at, item] of items.entries()) {
    signal.throwIfAborted();
    await step(item);
    if (clock.monotonicMs() < next) continue;
    next = clock.monotonicMs() + paceMs;
    progress(`${what}: ${at + 1} of ${items.length}`);
  }
}
