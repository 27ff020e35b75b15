import { signal } from '@preact/signals';
import type { PageError } from '../../api/dashboard.ts';
import { setServerTime } from './server-clock.ts';

/** Why a request has no data. */
export interface Problem extends Readonly<PageError['error']> {
  /** HTTP status; 0: the server does not answer. */
  readonly status: number;
}

export type Answer<T> =
  | { readonly kind: 'data'; readonly data: T }
  | { readonly kind: 'problem'; readonly problem: Problem };

/** False: the server refused the cookie, or got none. */
export const isLoggedIn = signal(true);

/** Reason for a problem without an answer; the page has the texts. */
export const noAnswer = 'NoAnswer';

/** Reads JSON. Throws only if `end` aborts. */
export async function readJson<T>(path: string, end: AbortSignal): Promise<Answer<T>> {
  try {
    const response = await fetch(path, { signal: end, headers: { accept: 'application/json' } });
    setServerTime(response.headers.get('date'));
    if (response.ok) return { kind: 'data', data: (await response.json()) as T };
    return { kind: 'problem', problem: await problemOf(response) };
  } catch {
    end.throwIfAborted();
    return { kind: 'problem', problem: { status: 0, reason: noAnswer, message: '', nextStep: '' } };
  }
}

/** Returns the problem in an error response. */
export async function problemOf(response: Response): Promise<Problem> {
  const { status } = response;
  if (status === 401) isLoggedIn.value = false;
  const unknown = { status, reason: `HTTP ${status}`, message: '', nextStep: '' };
  try {
    const { error } = (await response.json()) as PageError;
    return { ...unknown, ...error };
  } catch {
    return unknown;
  }
}
