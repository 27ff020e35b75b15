import type { PageError } from '../../api/dashboard.ts';
import { type ErrorForm, HttpProblem, type ProblemOptions } from '../../http/problem.ts';
import { securityHeaders } from './security-headers.ts';

/** An error's reason and texts for the page. */
interface Problem {
  readonly reason: string;
  readonly message: string;
  readonly nextStep: string;
}

/** An error with the user's next step. */
export class PageProblem extends HttpProblem {
  readonly nextStep: string;

  constructor(
    status: number,
    { reason, message, nextStep }: Problem,
    options: ProblemOptions = {},
  ) {
    super(status, reason, message, options);
    this.name = 'PageProblem';
    this.nextStep = nextStep;
  }
}

/** Next steps for the HTTP server's own errors. */
const nextSteps: Readonly<Record<string, string>> = {
  BodyTooLarge: 'send less at once',
  HeadersTooLarge: 'delete the cookies of 127.0.0.1, and reload the page',
  RequestTimeout: 'try again',
  TooManyRequests: 'wait until the requests of the other tabs have ended',
};

const usualNextStep = 'reload the page; if the error stays, start `multinic dashboard` again';

/** Errors as `{error: {reason, message, nextStep}}`. */
export const pageErrors: ErrorForm = {
  contentType: 'application/json; charset=utf-8',
  headersOf: () => securityHeaders,
  bodyOf: (problem): PageError => ({
    error: {
      reason: problem.code,
      message: problem.message,
      nextStep:
        problem instanceof PageProblem
          ? problem.nextStep
          : (nextSteps[problem.code] ?? usualNextStep),
    },
  }),
};
