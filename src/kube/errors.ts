export interface KubeErrorCause {
  readonly field: string;
  readonly message: string;
}

export interface KubeErrorDetails {
  /** HTTP status; 0 when no answer came. */
  readonly status: number;
  /** The API's own reason (`NotFound`, `AlreadyExists`, …); `Unreachable` or `Timeout` when no answer came. */
  readonly reason: string;
  readonly message: string;
  readonly retryAfterMs?: number | undefined;
  readonly causes?: readonly KubeErrorCause[];
  readonly cause?: unknown;
}

/** A request that the API server refused, or that got no answer. */
export class KubeError extends Error {
  readonly status: number;
  readonly reason: string;
  readonly retryAfterMs: number | undefined;
  readonly causes: readonly KubeErrorCause[];

  constructor(details: KubeErrorDetails) {
    super(details.message, details.cause === undefined ? {} : { cause: details.cause });
    this.name = 'KubeError';
    this.status = details.status;
    this.reason = details.reason;
    this.retryAfterMs = details.retryAfterMs;
    this.causes = details.causes ?? [];
  }
}

/** The object, its namespace or its resource does not exist. */
export function isNotFound(error: unknown): error is KubeError {
  return error instanceof KubeError && error.status === 404;
}

/** The API server itself says that the object is not there: a 404 of something in between, or of a kind that is not served, does not. */
export function isAbsent(error: unknown): error is KubeError {
  return isNotFound(error) && error.reason === 'NotFound';
}

/** Somebody else wrote first, or owns a field of this apply; not "already exists", which is also a 409. */
export function isConflict(error: unknown): error is KubeError {
  return error instanceof KubeError && error.status === 409 && error.reason !== 'AlreadyExists';
}

/** A create found an object of that name. */
export function isAlreadyExists(error: unknown): error is KubeError {
  return error instanceof KubeError && error.reason === 'AlreadyExists';
}

/** The resourceVersion or continue token is too old: list again. */
export function isGone(error: unknown): error is KubeError {
  return error instanceof KubeError && error.status === 410;
}

/** The answer was not read to its end, for want of memory: ask for less at once. */
export function isTooLarge(error: unknown): error is KubeError {
  return error instanceof KubeError && error.reason === 'AnswerTooLarge';
}

/** The identity is known and may not do this. */
export function isForbidden(error: unknown): error is KubeError {
  return error instanceof KubeError && error.status === 403;
}

/** The object violates its schema or a rule; `causes` name the fields. */
export function isInvalid(error: unknown): error is KubeError {
  return error instanceof KubeError && error.status === 422;
}
