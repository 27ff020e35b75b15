import { problem } from '../../api/node-configs-http.ts';

/** Error answer of the operator's API; status 0: no answer. */
export class ApiError extends Error {
  readonly status: number;
  /** The problem's code, such as NoSuchPort; empty: none. */
  readonly reason: string;
  constructor(status: number, reason: string, message: string) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.reason = reason;
  }

  /** True if this operator is older than the route. */
  get isMissingRoute(): boolean {
    return this.status === 404 && (this.reason === 'NoSuchRoute' || this.reason === '');
  }
}

/** Returns the error for an answer with this status. */
export function refusal(status: number, text: string): ApiError {
  const body = parsedJson(text);
  if (body === undefined) return noJson(status, text);
  const read = problem.partial().safeParse(body);
  const { code = '', detail } = read.success ? read.data : {};
  return new ApiError(status, code, detail ?? `the operator answered ${status}`);
}

/** The operator answers with JSON only: a proxy or a foreign server sent this text. */
export function noJson(status: number, text: string): ApiError {
  const start = text.replaceAll(/\s+/g, ' ').trim().slice(0, 80);
  const is = start === '' ? 'empty' : `no JSON (it starts with ${JSON.stringify(start)})`;
  return new ApiError(status, 'NoJson', `the answer with status ${status} is ${is}`);
}

/** Returns undefined for text that is no JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
