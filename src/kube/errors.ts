export interface KubeErrorCause {
  readonly field: string;
  readonly message: string;
}

export interface KubeErrorDetails {
  /** HTTP status; 0 without an answer. */
  readonly status: number;
  /** The API's own reason (`NotFound`, `AlreadyExists`, …); `Unreachable` or `Timeout` without an answer. */
  readonly reason: string;
  readonly message: string;
  /** Resource in the answer, such as `openstackconfigs`; undefined: not named. */
  readonly resource?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly causes?: readonly KubeErrorCause[];
  readonly cause?: unknown;
}

/** Error: the API server refused the request, or no answer arrived. */
export class KubeError extends Error {
  readonly status: number;
  readonly reason: string;
  readonly resource: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly causes: readonly KubeErrorCause[];

  constructor(details: KubeErrorDetails) {
    super(details.message, details.cause === undefined ? {} : { cause: details.cause });
    this.name = 'KubeError';
    this.status = details.status;
    this.reason = details.reason;
    this.resource = details.resource;
    this.retryAfterMs = details.retryAfterMs;
    this.causes = details.causes ?? [];
  }
}

/** Returns true if object, namespace or resource does not exist. */
export function isNotFound(error: unknown): error is KubeError {
  return error instanceof KubeError && error.status === 404;
}

/**
 * Returns true if the API server itself reports the object as missing. A 404 from a proxy, or for an unserved kind,
 * does not count.
 */
export function isAbsent(error: unknown): error is KubeError {
  return isNotFound(error) && error.reason === 'NotFound';
}

/** Returns true on a concurrent write or a foreign field owner; false for "already exists", also a 409. */
export function isConflict(error: unknown): error is KubeError {
  return error instanceof KubeError && error.status === 409 && error.reason !== 'AlreadyExists';
}

/** Returns true if a create found an existing object with this name. */
export function isAlreadyExists(error: unknown): error is KubeError {
  return error instanceof KubeError && error.reason === 'AlreadyExists';
}

/** Returns true if resourceVersion or continue token has expired: list again. */
export function isGone(error: unknown): error is KubeError {
  return error instanceof KubeError && error.status === 410;
}

/** Returns true if the answer exceeded the memory limit: request less at once. */
export function isTooLarge(error: unknown): error is KubeError {
  return error instanceof KubeError && error.reason === 'AnswerTooLarge';
}

/** Returns true if a known identity lacks the right. */
export function isForbidden(error: unknown): error is KubeError {
  return error instanceof KubeError && error.status === 403;
}

/** Returns true if the object violates its schema or a rule; `causes` name the fields. */
export function isInvalid(error: unknown): error is KubeError {
  return error instanceof KubeError && error.status === 422;
}
