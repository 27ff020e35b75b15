/** Who was asked. */
export type Service = 'contrabass' | 'keystone' | 'neutron' | 'nova' | 'viola';

/** What went wrong, as far as a caller decides by it. */
export type FailureKind =
  | 'unauthorized'
  | 'forbidden'
  | 'notFound'
  | 'conflict'
  | 'tooLarge'
  | 'rateLimited'
  | 'timeout'
  | 'unreachable'
  | 'serverError'
  | 'badAnswer'
  | 'badCredential'
  | 'noEndpoint'
  /** Nobody said which of several regions is meant. */
  | 'ambiguousRegion'
  /** The operator's policy forbids the place. */
  | 'denied';

export interface FailureDetails {
  readonly service: Service;
  readonly kind: FailureKind;
  /** HTTP status, when there was an answer. */
  readonly status?: number;
  /** The service's own word for it. */
  readonly code?: string;
  /** How long the service (or our own circuit breaker) asks to wait. */
  readonly retryAfterMs?: number;
  /** `x-openstack-request-id` of the answer: what an administrator looks for in the service's log. */
  readonly requestId?: string;
  readonly cause?: unknown;
}

/**
 * A failed call to a service. The message ends up in the status of objects, so it is stable: the same
 * failure gives the same text (no ephemeral ports, no request ids), and it never carries a secret.
 */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  /** The message without the service's name. */
  readonly reason: string;
  readonly service: Service;
  readonly kind: FailureKind;
  readonly status: number | undefined;
  readonly code: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly requestId: string | undefined;

  constructor(reason: string, details: FailureDetails) {
    super(`${details.service}: ${reason}`, { cause: details.cause });
    this.reason = reason;
    this.service = details.service;
    this.kind = details.kind;
    this.status = details.status;
    this.code = details.code;
    this.retryAfterMs = details.retryAfterMs;
    this.requestId = details.requestId;
  }
}

/** Whether `error` is an RequestError, of one of `kinds` if any are named. */
export function isRequestError(error: unknown, ...kinds: FailureKind[]): error is RequestError {
  return error instanceof RequestError && (kinds.length === 0 || kinds.includes(error.kind));
}
