import type { Logger } from './log.ts';

/** Exit status after a second signal, or when a part exceeded its grace period. */
const forcedExit = 130;
/** Exit status for a failed part. */
export const failedExit = 1;
/** Exit status for an invalid setting or argument. */
export const usageExit = 2;
const signals = ['SIGTERM', 'SIGINT'] as const;

export interface RunOptions {
  readonly log: Logger;
  /** Grace period for finishing current work (ms). */
  readonly graceMs: number;
  /** Time for open handles after the part has ended (ms, default 1 s); then the process exits. */
  readonly leftoversMs?: number;
}

/**
 * Runs a part under a root signal, then ends the process. SIGTERM, SIGINT or an uncaught error aborts the signal. A
 * second signal, or `graceMs` without an end, exits at once. After the part has ended, open handles do not keep the
 * process alive. Resolves to the exit status: the part's own status, if any.
 */
export async function runUntilSignal(
  run: (signal: AbortSignal) => Promise<number | void>,
  { log, graceMs, leftoversMs = 1_000 }: RunOptions,
): Promise<number> {
  const root = new AbortController();
  let stray: { readonly error: unknown } | undefined;

  function stop(reason: unknown, exitAfterGrace: number): void {
    root.abort(reason);
    exitAfter(graceMs, exitAfterGrace, () =>
      log.error({ graceMs }, 'not stopped in time, exiting'),
    );
  }
  const onSignal = (name: NodeJS.Signals): void => {
    if (root.signal.aborted) process.exit(forcedExit);
    log.info({ signal: name }, 'stopping');
    stop(new Error(`stopped by ${name}`), forcedExit);
  };
  const onStray = (error: unknown): void => {
    log.fatal({ err: error }, 'uncaught error, stopping');
    // While already stopping, the shutdown simply continues.
    if (stray === undefined && !root.signal.aborted) stop(error, failedExit);
    stray ??= { error };
  };
  for (const name of signals) process.on(name, onSignal);
  process.on('uncaughtException', onStray); // includes unhandled rejections

  const status = await outcome();
  exitAfter(leftoversMs, status);
  return status;

  async function outcome(): Promise<number> {
    let partStatus: number | void = 0;
    try {
      partStatus = await run(root.signal);
    } catch (error) {
      const isStopped = root.signal.aborted && error === root.signal.reason;
      if (!isStopped) {
        log.fatal({ err: error }, 'failed');
        return failedExit;
      }
    } finally {
      root.abort(new Error('the part has stopped'));
    }
    if (stray) return failedExit;
    log.info('stopped');
    return partStatus ?? 0;
  }
}

/**
 * Exits on the first signal, until the returned function is called. The kernel ignores signals without a handler for
 * a container's first process: without this handler the process would keep running, and leading, until SIGKILL.
 */
export function exitOnSignal(status: number): () => void {
  const exit = (): void => process.exit(status);
  for (const name of signals) process.on(name, exit);
  return () => {
    for (const name of signals) process.off(name, exit);
  };
}

/** Exits after `ms`, unless the process has already ended. */
function exitAfter(ms: number, status: number, log?: () => void): void {
  setTimeout(() => {
    log?.();
    process.exit(status);
  }, ms).unref();
}
