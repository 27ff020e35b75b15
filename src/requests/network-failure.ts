import { DeadlineReached } from '../time/deadline.ts';
import { InnerAddress } from './inner-addresses.ts';
import { RequestError, type Service } from './request-error.ts';
import { ProxyRefused } from './tunnel.ts';

/** Error: the answer exceeds the size limit. */
export class BodyTooLong extends Error {
  override readonly name = 'BodyTooLong';
}

const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was closed before the answer was complete',
  EPIPE: 'the connection was closed before the answer was complete',
  UND_ERR_SOCKET: 'the connection was closed before the answer was complete',
  HPE_INVALID_EOF_STATE: 'the connection was closed before the answer was complete',
  ENOTFOUND: 'the host name does not resolve',
  EAI_AGAIN: 'the host name cannot be resolved at the moment',
  EHOSTUNREACH: 'there is no route to the host',
  ENETUNREACH: 'there is no route to the host',
  ETIMEDOUT: 'no connection within the time limit',
  UND_ERR_CONNECT_TIMEOUT: 'no connection within the time limit',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is not signed by a trusted CA; give the CA bundle',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is not signed by a trusted CA; give the CA bundle',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'its certificate is not signed by a trusted CA; give the CA bundle',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    'its certificate is not signed by a trusted CA; give the CA bundle',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet; check the clocks of both machines',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host name',
};

/** The failed request's target. */
interface Target {
  readonly service: Service;
  readonly method: string;
  readonly url: URL;
  /** Origin: the proxy in use. */
  readonly proxy?: string | undefined;
}

/**
 * Returns the RequestError for a request without a complete answer. Socket error texts carry ephemeral ports and are
 * not quoted.
 */
export function networkFailure(request: Target, error: unknown): RequestError {
  const way = request.proxy === undefined ? '' : ` through the proxy ${request.proxy}`;
  const target = `${request.method} ${request.url.origin}${request.url.pathname}${way}`;
  if (error instanceof DeadlineReached) {
    return new RequestError(`${target}: ${error.message}`, {
      service: request.service,
      kind: 'timeout',
      cause: error,
    });
  }
  if (error instanceof InnerAddress) {
    const advice = "and not in the operator's ALLOWED_ENDPOINTS";
    return new RequestError(`${target}: ${error.message}, ${advice}`, {
      service: request.service,
      kind: 'denied',
      cause: error,
    });
  }
  const code = codeOf(error);
  const tooLong = error instanceof BodyTooLong;
  const hasMessage = tooLong || error instanceof ProxyRefused;
  const reason = hasMessage ? error.message : (words[code] ?? `the request failed (${code})`);
  return new RequestError(`${target}: ${reason}`, {
    service: request.service,
    kind: tooLong ? 'tooLarge' : 'unreachable',
    cause: error,
  });
}

// With several addresses (IPv4 and IPv6) Node.js reports an AggregateError; the first member is representative.
function codeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  if (error instanceof Error && 'code' in error && typeof error.code === 'string')
    return error.code;
  return error instanceof Error ? error.name : 'unknown';
}
