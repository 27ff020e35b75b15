import { type OperatorReason, reasons } from '../../api/reasons.ts';
import { KubeError } from '../../kube/errors.ts';
import { keyOf } from '../../kube/object.ts';
import type { Logger } from '../../process/log.ts';
import { isRequestError, type RequestError } from '../../requests/request-error.ts';
import type { ConfigContext, TermMemory } from './memory/config-memory.ts';
import { Slot } from './memory/slot.ts';

/** A problem to report on an OpenstackConfig. */
export interface StatusProblem {
  readonly reason: OperatorReason;
  readonly message: string;
}

/** A step failure that ends the sync; the status reports the reason, and the sync is retried. */
export class StepFailure extends Error implements StatusProblem {
  override readonly name = 'StepFailure';
  readonly reason: OperatorReason;
  /** Retry-After from the service, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(
    { reason, message }: StatusProblem,
    options: ErrorOptions & { retryAfterMs?: number } = {},
  ) {
    super(message, options);
    this.reason = reason;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** Wraps a failed OpenStack request; `reason` applies when the requested service itself failed. */
export function openstackFailure(error: unknown, reason: OperatorReason): StepFailure {
  if (!isRequestError(error)) throw error;
  const { message, retryAfterMs } = error;
  return new StepFailure(
    { reason: reasonOf(error, reason), message },
    { cause: error, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) },
  );
}

/**
 * Returns the reason for a failed request: a Neutron step fails with Keystone's reason when no token was
 * issued.
 */
export function reasonOf({ service, kind }: RequestError, own: OperatorReason): OperatorReason {
  if (kind === 'denied') return 'PolicyDenied';
  if (kind === 'ambiguousRegion') return 'ConfigError';
  if (service === 'contrabass') return 'ContrabassError';
  if (service === 'keystone') return 'KeystoneError';
  if (service === 'neutron' && kind === 'noEndpoint') return 'NeutronEndpointError';
  return own;
}

/** Returns whether a user must correct the cause: an unusable value, or a refusal by a service. */
function isOfUser({ reason, cause }: StepFailure): boolean {
  return !reasons[reason].retryable || isRequestError(cause, ...refusals);
}

/** Last failure of the OpenstackConfig that a user must correct: retries log the same failure once. */
const lastOfUser = new Slot<TermMemory, string>(() => '');
const corrected = 'sync waits for a correction';

const refusals = ['unauthorized', 'forbidden', 'notFound', 'badCredential', 'denied'] as const;

/**
 * Returns the step's result or failure. API server failures are rethrown: without an API server nothing can
 * be reported. An unexpected error is a bug, reported on the object.
 */
export async function attempt<T>(
  step: () => Promise<T>,
  { log: shared, object, memory: { term } }: ConfigContext & { readonly log: Logger },
  signal: AbortSignal,
): Promise<T | StepFailure> {
  const log = shared.child({ config: keyOf(object) });
  try {
    const result = await step();
    lastOfUser.set(term, '');
    return result;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof KubeError) throw error;
    if (error instanceof StepFailure) {
      const { reason, message } = error;
      const ofUser = isOfUser(error) ? message : '';
      const isRepeated = ofUser !== '' && lastOfUser.of(term) === ofUser;
      lastOfUser.set(term, ofUser);
      if (ofUser === '') log.warn({ reason, err: error }, 'sync failed, will retry');
      else log[isRepeated ? 'debug' : 'info']({ reason, detail: message }, corrected);
      return error;
    }
    log.error({ err: error }, 'sync failed unexpectedly, will retry');
    const what = error instanceof Error ? error.message : String(error);
    return new StepFailure(
      { reason: 'Error', message: `unexpected error: ${what}` },
      { cause: error },
    );
  }
}
