import { HttpProblem } from '../http/problem.ts';
import { KubeError } from '../kube/errors.ts';
import { DeadlineReached } from '../time/deadline.ts';

/** Rethrows what a business cluster answered as a problem of ours: its failures are not the caller's. */
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
    const detail = 'the continue token is too old; list again from the start';
    throw new HttpProblem(400, 'ContinueExpired', detail, options);
  }
  // What Viola asks for is in order but for the token, which is the API server's own.
  if (error.status === 400) {
    const detail = 'continue: is not the token of a page of this cluster; start without it';
    throw new HttpProblem(400, 'InvalidRequest', detail, options);
  }
  throw new HttpProblem(503, 'ClusterUnreachable', `business cluster: ${error.message}`, options);
}
