export interface ViolaErrorOptions extends ErrorOptions {
  readonly code?: string;
  readonly retryAfterMs?: number;
}

/** A call to Viola that failed as a whole; the message is stable and names what to do. */
export class ViolaError extends Error {
  override readonly name = 'ViolaError';
  /** HTTP status; 0 when no answer came. */
  readonly status: number;
  /** Viola's word for it, if it said one. */
  readonly code: string | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(message: string, status: number, options: ViolaErrorOptions = {}) {
    super(message, options);
    this.status = status;
    this.code = options.code;
    this.retryAfterMs = options.retryAfterMs;
  }
}
