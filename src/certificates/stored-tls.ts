import { authoritiesIn, type Certificate, isSignedBy, type Pair, pairIn } from './certificate.ts';
import type { ReadSecret } from './owned-secret.ts';

/** Usable content in both Secrets: CA and server certificate. */
export interface StoredTls {
  /** The signing CA with its key. */
  readonly signing: Pair | undefined;
  /** CAs the operator trusts, with their PEM text. */
  readonly trusted: Bundle;
  readonly server: ServerPair | undefined;
  /** CA bundle beside the server certificate, for other API callers. */
  readonly shown: string;
}

interface Bundle {
  readonly text: string;
  readonly authorities: readonly Certificate[];
}

export interface ServerPair extends Pair {
  /** The signing CA, among all CAs in both Secrets. */
  readonly issuer: Certificate | undefined;
}

/** Data keys in both Secrets. */
export const tlsKeys = { authorities: 'ca.crt', certificate: 'tls.crt', key: 'tls.key' } as const;

/**
 * Returns the usable content. `remembered`: CAs this process trusts. If both Secrets are lost, Viola may still serve
 * a certificate signed by them.
 */
export function storedTls(
  authority: ReadSecret,
  certificate: ReadSecret,
  remembered?: string,
): StoredTls {
  const signing = signingPair(authority);
  const text = authority.data[tlsKeys.authorities] ?? '';
  const shown = certificate.data[tlsKeys.authorities] ?? '';
  const trusted = { text, authorities: [...authoritiesIn(text), ...authoritiesIn(remembered)] };
  // If only the CA Secret is deleted, the signing CA is still in the certificate's bundle.
  const known = [
    ...(signing ? [signing.certificate] : []),
    ...trusted.authorities,
    ...authoritiesIn(shown),
  ];
  const server = pairOf(certificate);
  const issuer = server && known.find((one) => isSignedBy(server.certificate, one));
  return { signing, trusted, shown, server: server && { ...server, issuer } };
}

function signingPair(secret: ReadSecret): Pair | undefined {
  const pair = pairOf(secret);
  return pair && authoritiesIn(pair.certificate.pem).length > 0 ? pair : undefined;
}

function pairOf({ data }: ReadSecret): Pair | undefined {
  return pairIn(data[tlsKeys.certificate], data[tlsKeys.key]);
}
