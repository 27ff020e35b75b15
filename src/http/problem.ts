/** An invalid field. */
export interface FieldError {
  readonly field: string;
  readonly message: string;
}

export interface ProblemOptions {
  readonly errors?: readonly FieldError[];
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
}

/** An error sent as RFC 9457 problem details: status, machine-readable code, and advice. */
export class HttpProblem extends Error {
  readonly status: number;
  readonly code: string;
  readonly errors: readonly FieldError[];
  readonly retryAfterSeconds: number | undefined;

  constructor(status: number, code: string, detail: string, options: ProblemOptions = {}) {
    super(detail, { cause: options.cause });
    this.name = 'HttpProblem';
    this.status = status;
    this.code = code;
    this.errors = options.errors ?? [];
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

const titles: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
  413: 'Content Too Large',
  414: 'URI Too Long',
  415: 'Unsupported Media Type',
  421: 'Misdirected Request',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};

/** A server's form for error responses. */
export interface ErrorForm {
  readonly contentType: string;
  readonly headersOf: (problem: HttpProblem) => Readonly<Record<string, string>>;
  readonly bodyOf: (problem: HttpProblem, requestId: string) => object;
}

/** Problem details (RFC 9457), for APIs with bearer tokens. */
export const problemDetails: ErrorForm = {
  contentType: 'application/problem+json',
  headersOf: ({ status }) => (status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
  bodyOf: problemBody,
};

/** Returns the status's reason phrase. */
export function titleOf({ status }: HttpProblem): string {
  return titles[status] ?? 'Error';
}

/** Returns the response body. */
export function problemBody(problem: HttpProblem, requestId: string) {
  return {
    type: 'about:blank',
    title: titleOf(problem),
    status: problem.status,
    detail: problem.message,
    code: problem.code,
    requestId,
    ...(problem.errors.length > 0 ? { errors: problem.errors } : {}),
  };
}
