import type { ViolaCode } from '../../../api/message-codes.ts';
import type { NodeErrorCode } from '../../../api/node-configs-http.ts';
import { isRequestError, type RequestError } from '../../../requests/request-error.ts';
import { StepFailure } from '../../model/step-failure.ts';

/** Returns a failed call's message, with its cause as code at the beginning. */
export function violaMessage(error: RequestError): string {
  const code = codeOf(error);
  return code === undefined ? error.message : `${code}: ${error.message}`;
}

/** Codes in Viola's problem bodies; an answer without one may come from a proxy. */
const byProblem: Readonly<Record<string, ViolaCode>> = {
  UnknownProvider: 'ClusterNotRegistered',
  TokenRequired: 'TokenRefused',
  TokenUnknown: 'TokenRefused',
  ProviderDenied: 'TokenRefused',
  VerbDenied: 'TokenRefused',
  ClusterUnreachable: 'ClusterUnreachable',
  ClusterUnusable: 'ClusterUnreachable',
};

function codeOf(error: RequestError): ViolaCode | undefined {
  const known = error.code !== undefined && Object.hasOwn(byProblem, error.code);
  if (known) return byProblem[error.code ?? ''];
  const isAway = isRequestError(error, 'unreachable', 'timeout', 'rateLimited', 'serverError');
  return isAway && error.code !== 'Unreadable' ? 'ViolaUnavailable' : undefined;
}

/** Returns the code for a node that Viola answers with an error. */
export function codeOfNode(code: NodeErrorCode): ViolaCode {
  if (code === 'ClusterUnreachable') return 'ClusterUnreachable';
  return code === 'Internal' ? 'ViolaUnavailable' : 'NodeRefused';
}

/** Converts a RequestError to a StepFailure: without the existing nodes, an index could be assigned twice. */
export function violaFailure(error: unknown): unknown {
  if (!isRequestError(error)) return error;
  const { retryAfterMs } = error;
  return new StepFailure(
    { reason: 'ViolaPostError', message: violaMessage(error) },
    { cause: error, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) },
  );
}
