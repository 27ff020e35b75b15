/** The called service. */
export type Service = 'contrabass' | 'keystone' | 'neutron' | 'nova' | 'viola';

/** Failure kind, for the caller's decisions. */
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
  /** Several regions match, and none is configured. */
  | 'ambiguousRegion'
  /** The operator's endpoint policy forbids the target. */
  | 'denied';

export interface FailureDetails {
  readonly service: Service;
  readonly kind: FailureKind;
  /** HTTP status, if an answer arrived. */
  readonly status?: number;
  /** The service's own error code. */
  readonly code?: string;
  /** Requested delay from the service (or our circuit breaker). */
  readonly retryAfterMs?: number;
  /** The answer's `x-openstack-request-id`, for searching the service's log. */
  readonly requestId?: string;
  readonly cause?: unknown;
}

/**
 * A failed service call. The message appears in object statuses and must be stable: equal failures give equal text
 * (no ephemeral ports, no request ids). Never contains a secret.
 */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  /** The message without the service name. */
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

/** Returns true if `error` is a RequestError, with any listed kind. */
export function isRequestError(error: unknown, ...kinds: FailureKind[]): error is RequestError {
  return error instanceof RequestError && (kinds.length === 0 || kinds.includes(error.kind));
}
