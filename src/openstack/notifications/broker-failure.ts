import { InnerAddress } from '../../requests/inner-addresses.ts';

/** Failure kinds for broker connections, grouped by remedy. */
export type BrokerFailureKind =
  /** Unreachable, hanging or disconnected broker. */
  | 'unreachable'
  /** The broker's name resolves to an inner address. */
  | 'denied'
  /** The certificate cannot be verified, or the peer speaks no TLS. */
  | 'certificate'
  /** Wrong user name or password. */
  | 'refused'
  /** The virtual host is missing, closed to this user, or has no free connection. */
  | 'virtualHost'
  /** The user may not create or read its own queue. */
  | 'forbidden'
  /** The broker deleted the queue. */
  | 'queueGone'
  /** The peer violates AMQP. */
  | 'protocol';

export class BrokerFailure extends Error {
  override readonly name = 'BrokerFailure';
  readonly kind: BrokerFailureKind;

  constructor(kind: BrokerFailureKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

/** Node.js error codes for OpenSSL's certificate errors (a weak key has no code) and for peers without TLS. */
const ofTls =
  /CERT|^ERR_TLS|^ERR_SSL|^UNABLE_TO_|^EPROTO$|^INVALID_|^PATH_LENGTH_EXCEEDED$|^UNSPECIFIED$/;

/** Classifies a connection error. */
export function brokerFailure(error: unknown): BrokerFailure {
  if (error instanceof BrokerFailure) return error;
  if (!(error instanceof Error)) return new BrokerFailure('unreachable', String(error));
  // ValueReader throws RangeError for reads beyond the frame.
  if (error instanceof RangeError) {
    return new BrokerFailure('protocol', 'the broker sent a truncated frame', { cause: error });
  }
  if (error instanceof InnerAddress) {
    return new BrokerFailure('denied', error.message, { cause: error });
  }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const kind = ofTls.test(code) ? 'certificate' : 'unreachable';
  return new BrokerFailure(kind, error.message || code, { cause: error });
}
