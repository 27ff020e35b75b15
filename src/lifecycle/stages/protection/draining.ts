import type { Clock } from '../../../time/clock.ts';

/** API servers call a Pod until its endpoint is removed on all nodes, some seconds after SIGTERM. */
const longestDrainMs = 5_000;

interface DrainOptions {
  readonly clock: Clock;
  /** True if API servers call the webhook now. */
  readonly isCalled: () => boolean;
  /** Milliseconds to keep answering after the stop signal; default 5 s. */
  readonly drainMs?: number | undefined;
}

/** Returns a signal that aborts after the endpoint has drained, or immediately if no API server calls the webhook. */
export function afterDraining(
  signal: AbortSignal,
  { clock, isCalled, drainMs = longestDrainMs }: DrainOptions,
): AbortSignal {
  const drained = new AbortController();
  const drain = async (): Promise<void> => {
    if (isCalled()) await clock.sleep(drainMs);
    drained.abort(signal.reason);
  };
  const onAbort = (): void => void drain();
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  return drained.signal;
}
