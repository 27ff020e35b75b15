import type { Logger } from './log.ts';

/** Exit status after a second signal, or when a part did not stop in time. */
const forcedExit = 130;

/**
 * Runs a part under one root signal. SIGTERM or SIGINT aborts it; a second signal, or `graceMs` without an end, leaves at
 * once. Resolves to the exit status.
 */
export async function runUntilSignal(
  run: (signal: AbortSignal) => Promise<void>,
  { log, graceMs }: { readonly log: Logger; readonly graceMs: number },
): Promise<number> {
  const root = new AbortController();
  const onSignal = (name: NodeJS.Signals): void => {
    if (root.signal.aborted) process.exit(forcedExit);
    log.info({ signal: name }, 'stopping');
    root.abort(new Error(`stopped by ${name}`));
    setTimeout(() => {
      log.error({ graceMs }, 'did not stop in time, leaving');
      process.exit(forcedExit);
    }, graceMs).unref();
  };
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  try {
    await run(root.signal);
    log.info('stopped');
    return 0;
  } catch (error) {
    if (root.signal.aborted && error === root.signal.reason) return 0;
    log.fatal({ err: error }, 'failed');
    return 1;
  } finally {
    process.off('SIGTERM', onSignal).off('SIGINT', onSignal);
  }
}
