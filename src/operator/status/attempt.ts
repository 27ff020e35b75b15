import { KubeError } from '../../kube/errors.ts';
import type { Logger } from '../../process/log.ts';
import { StepFailure } from './step-failure.ts';

/**
 * The result of a step, or why it failed. The API server's own failures are thrown on, because nothing can be reported
 * without it; an error that nobody expected is a bug, and the object says so.
 */
export async function attempt<T>(
  step: () => Promise<T>,
  log: Logger,
  signal: AbortSignal,
): Promise<T | StepFailure> {
  try {
    return await step();
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof KubeError) throw error;
    if (error instanceof StepFailure) {
      log.warn({ reason: error.reason, err: error }, 'sync failed, tried again');
      return error;
    }
    log.error({ err: error }, 'sync failed unexpectedly, tried again');
    const what = error instanceof Error ? error.message : String(error);
    return new StepFailure({ reason: 'Error', message: `unexpected: ${what}` }, { cause: error });
  }
}
