import { InnerAddress } from '../../requests/inner-addresses.ts';

/** Why there is no connection to a broker, by what can be done about it. */
export type BrokerFailureKind =
  /** It cannot be reached, hangs, or went away. */
  | 'unreachable'
  /** Its name leads to an inner address. */
  | 'denied'
  /** Its certificate cannot be verified, or it speaks no TLS. */
  | 'certificate'
  /** It does not let this user in with this password. */
  | 'refused'
  /** It has no such virtual host, or not for this user, or no connection left for either. */
  | 'virtualHost'
  /** The user may not make or read a queue of its own. */
  | 'forbidden'
  /** The queue was taken away. */
  | 'queueGone'
  /** It sends what no broker sends. */
  | 'protocol';

export class BrokerFailure extends Error {
  override readonly name = 'BrokerFailure';
  readonly kind: BrokerFailureKind;

  constructor(kind: BrokerFailureKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

/** Node.js names what OpenSSL finds wrong with a certificate (a weak key has no name), and a peer that speaks no TLS. */
const ofTls =
  /CERT|^ERR_TLS|^ERR_SSL|^UNABLE_TO_|^EPROTO$|^INVALID_|^PATH_LENGTH_EXCEEDED$|^UNSPECIFIED$/;

/** What an error of a connection means. */
export function brokerFailure(error: unknown): BrokerFailure {
  if (error instanceof BrokerFailure) return error;
  if (!(error instanceof Error)) return new BrokerFailure('unreachable', String(error));
  // What reads values found none before the end of the frame.
  if (error instanceof RangeError) {
    return new BrokerFailure('protocol', 'a frame that is cut short', { cause: error });
  }
  if (error instanceof InnerAddress) {
    return new BrokerFailure('denied', error.message, { cause: error });
  }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const kind = ofTls.test(code) ? 'certificate' : 'unreachable';
  return new BrokerFailure(kind, error.message || code, { cause: error });
}
