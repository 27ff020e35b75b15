import type { Logger } from './log.ts';

/** Exit status after a second signal, or when a part did not stop in time. */
const forcedExit = 130;
/** Exit status of a part that failed. */
export const failedExit = 1;
/** Exit status when a setting or an argument cannot be used. */
export const usageExit = 2;
const signals = ['SIGTERM', 'SIGINT'] as const;

export interface RunOptions {
  readonly log: Logger;
  /** How long a part may take to end what it has in work. */
  readonly graceMs: number;
  /** How long what a part has left behind may keep the process alive after its end (default 1 s). */
  readonly leftoversMs?: number;
}

/**
 * Runs a part under one root signal, and ends the process after it. SIGTERM or SIGINT aborts it, and so does an error
 * that nobody caught; a second signal, or `graceMs` without an end, leaves at once. A part that has ended has nothing
 * more to do: what it left open does not keep the process alive. Resolves to the exit status: the one that the part ends
 * with, if it has one.
 */
export async function runUntilSignal(
  run: (signal: AbortSignal) => Promise<number | void>,
  { log, graceMs, leftoversMs = 1_000 }: RunOptions,
): Promise<number> {
  const root = new AbortController();
  let stray: { readonly error: unknown } | undefined;

  function stop(reason: unknown, exitAfterGrace: number): void {
    root.abort(reason);
    leaveAfter(graceMs, exitAfterGrace, () =>
      log.error({ graceMs }, 'did not stop in time, leaving'),
    );
  }
  const onSignal = (name: NodeJS.Signals): void => {
    if (root.signal.aborted) process.exit(forcedExit);
    log.info({ signal: name }, 'stopping');
    stop(new Error(`stopped by ${name}`), forcedExit);
  };
  const onStray = (error: unknown): void => {
    log.fatal({ err: error }, 'error that nobody caught, stopping');
    // What was stopped already goes on with its end.
    if (stray === undefined && !root.signal.aborted) stop(error, failedExit);
    stray ??= { error };
  };
  for (const name of signals) process.on(name, onSignal);
  process.on('uncaughtException', onStray); // rejections that nobody handles, too

  const status = await outcome();
  leaveAfter(leftoversMs, status);
  return status;

  async function outcome(): Promise<number> {
    let own: number | void = 0;
    try {
      own = await run(root.signal);
    } catch (error) {
      const told = root.signal.aborted && error === root.signal.reason;
      if (!told) {
        log.fatal({ err: error }, 'failed');
        return failedExit;
      }
    } finally {
      root.abort(new Error('the part has ended'));
    }
    if (stray) return failedExit;
    log.info('stopped');
    return own ?? 0;
  }
}

/**
 * Ends the process at the first signal, until the function that it answers is called. The kernel drops a signal that the
 * first process of a container has not asked for: it would go on, and lead, until it is killed.
 */
export function exitOnSignal(status: number): () => void {
  const leave = (): void => process.exit(status);
  for (const name of signals) process.on(name, leave);
  return () => {
    for (const name of signals) process.off(name, leave);
  };
}

/** Ends the process after a while, unless it has ended by itself before. */
function leaveAfter(ms: number, status: number, say?: () => void): void {
  setTimeout(() => {
    say?.();
    process.exit(status);
  }, ms).unref();
}
