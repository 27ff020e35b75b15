import { HttpProblem } from '../../../http/problem.ts';

/** Seconds; about the duration for a thousand servers. */
const retryAfterSeconds = 3;

/** Runs at most one what-if per subject at once. */
export class InProgress {
  readonly #subjects = new Set<string>();

  /** Throws 429 while a what-if for this subject runs. */
  async alone<T>(subject: string, work: () => Promise<T>): Promise<T> {
    if (this.#subjects.has(subject)) {
      const detail = `another what-if of ${subject} is in progress; repeat after ${retryAfterSeconds} s`;
      throw new HttpProblem(429, 'WhatIfInProgress', detail, { retryAfterSeconds });
    }
    this.#subjects.add(subject);
    try {
      return await work();
    } finally {
      this.#subjects.delete(subject);
    }
  }
}
