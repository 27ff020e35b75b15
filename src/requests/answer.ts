import type { FailureKind } from './request-error.ts';
import type { HttpAnswer } from './transport.ts';

const kinds: Readonly<Record<number, FailureKind>> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'notFound',
  409: 'conflict',
  412: 'conflict',
  413: 'tooLarge',
  414: 'tooLarge',
  429: 'rateLimited',
  431: 'tooLarge',
};

/** Returns the failure kind for a non-success status. */
export function kindOf(status: number): FailureKind {
  return kinds[status] ?? (status >= 500 ? 'serverError' : 'badAnswer');
}

/** Returns a header's first value. */
export function headerOf(answer: HttpAnswer, name: string): string | undefined {
  const value = answer.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** Returns the Retry-After header in milliseconds; `now` converts a date into a delay. */
export function retryAfterOf(answer: HttpAnswer, now: Date): number | undefined {
  const value = headerOf(answer, 'retry-after');
  if (value === undefined) return undefined;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now.getTime());
}
