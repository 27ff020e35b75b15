import { HttpProblem } from '../../http/problem.ts';
import { KubeError } from '../../kube/errors.ts';
import { DeadlineReached } from '../../time/deadline.ts';

/** Rethrows a business cluster's failure as 503 or 400: internal errors there are not the caller's fault. */
export function toProblem(error: unknown): never {
  if (error instanceof DeadlineReached) {
    const detail = `business cluster: ${error.message}`;
    throw new HttpProblem(503, 'ClusterUnreachable', detail, { cause: error });
  }
  if (!(error instanceof KubeError)) throw error;
  const options = {
    cause: error,
    ...(error.retryAfterMs ? { retryAfterSeconds: Math.ceil(error.retryAfterMs / 1000) } : {}),
  };
  if (error.status === 410) {
    const detail = 'the continue token has expired; list again without it';
    throw new HttpProblem(400, 'ContinueExpired', detail, options);
  }
  // The continue token is the only input from the caller, so a 400 concerns this token.
  if (error.status === 400) {
    const detail = 'continue: is not a page token of this cluster; list again without it';
    throw new HttpProblem(400, 'InvalidRequest', detail, options);
  }
  throw new HttpProblem(503, 'ClusterUnreachable', `business cluster: ${error.message}`, options);
}
