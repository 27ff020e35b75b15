import { createHmac, timingSafeEqual } from 'node:crypto';
import { signatureHeader, timestampHeader } from '../../../../api/trigger-http.ts';
import { HttpProblem } from '../../../../http/problem.ts';

/** Largest difference (ms) between the caller's clock and ours. */
export const signatureWindowMs = 300_000;

/** Signature headers of a signed call. */
export interface Signature {
  /** As sent, because the timestamp is signed, too. */
  readonly timestamp: string;
  /** 64 hexadecimal digits. */
  readonly hmac: string;
}

/** Signed data before the body. */
interface Call {
  readonly method: string;
  /** With the query, as sent. */
  readonly path: string;
}

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Reads a signed call's headers. Throws 401 when headers are missing or malformed, or the timestamp is too far away.
 */
export function signatureIn(headers: Headers, now: Date): Signature {
  const { [signatureHeader]: signature, [timestampHeader]: timestamp } = headers;
  const hmac = /^sha256=([0-9a-f]{64})$/.exec(String(signature))?.[1];
  if (hmac === undefined) {
    throw refused(`send ${signatureHeader}: sha256=<64 hexadecimal digits, lower case>`);
  }
  if (typeof timestamp !== 'string' || !/^\d{1,12}(\.\d{1,9})?$/.test(timestamp)) {
    throw refused(`send ${timestampHeader}: <seconds since 1970>`);
  }
  const awayMs = Math.abs(now.getTime() - Number(timestamp) * 1000);
  if (awayMs <= signatureWindowMs) return { timestamp, hmac };
  const seconds = Math.round(awayMs / 1000);
  throw refused(
    `${timestampHeader} ${timestamp} is ${seconds} s away from the clock of this server, more than ${signatureWindowMs / 1000} s; sign the request again`,
  );
}

/** Throws 401 unless a key gives this signature for the call. */
export function verifySignature(
  { timestamp, hmac }: Signature,
  keys: readonly string[],
  { method, path }: Call,
  body: Uint8Array,
): void {
  const head = `${timestamp}\n${method}\n${path}\n`;
  const presented = Buffer.from(hmac, 'hex');
  const fits = keys.filter((key) =>
    timingSafeEqual(createHmac('sha256', key).update(head).update(body).digest(), presented),
  );
  if (fits.length === 0) {
    throw refused(
      'the signature does not match timestamp, method, path and body with any key of this server',
    );
  }
}

export function refused(detail: string): HttpProblem {
  return new HttpProblem(401, 'SignatureRefused', detail);
}
