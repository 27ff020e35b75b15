import type { OperatorReason } from '../../api/reasons.ts';
import { KubeError } from '../../kube/errors.ts';
import type { Logger } from '../../process/log.ts';
import { isRequestError, type RequestError } from '../../requests/request-error.ts';

/** Something to report on an OpenstackConfig. */
export interface Trouble {
  readonly reason: OperatorReason;
  readonly message: string;
}

/** A step that failed in a way that ends the sync; the status says why, and it is tried again. */
export class StepFailure extends Error implements Trouble {
  override readonly name = 'StepFailure';
  readonly reason: OperatorReason;
  /** How long the other side asks to wait. */
  readonly retryAfterMs: number | undefined;

  constructor(
    { reason, message }: Trouble,
    options: ErrorOptions & { retryAfterMs?: number } = {},
  ) {
    super(message, options);
    this.reason = reason;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** The failure of a step that asks OpenStack; `reason` holds when the asked service itself is to blame. */
export function openstackFailure(error: unknown, reason: OperatorReason): StepFailure {
  if (!isRequestError(error)) throw error;
  const { message, retryAfterMs } = error;
  return new StepFailure(
    { reason: reasonOf(error, reason), message },
    { cause: error, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) },
  );
}

/** The reason of a failed call: a step of Neutron fails with Keystone's reason when there is no token. */
export function reasonOf({ service, kind }: RequestError, own: OperatorReason): OperatorReason {
  if (kind === 'denied') return 'PolicyDenied';
  if (kind === 'ambiguousRegion') return 'ConfigError';
  if (service === 'contrabass') return 'ContrabassError';
  if (service === 'keystone') return 'KeystoneError';
  if (service === 'neutron' && kind === 'noEndpoint') return 'NeutronEndpointError';
  return own;
}

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
