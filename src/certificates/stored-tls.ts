import { authoritiesIn, type Certificate, isSignedBy, type Pair, pairIn } from './certificate.ts';
import type { ReadSecret } from './owned-secret.ts';

/** What the Secrets of the authority and of Viola's certificate hold, as far as it can be used. */
export interface StoredTls {
  /** The authority that signs, with its key. */
  readonly signing: Pair | undefined;
  /** Authorities that the operator believes, and the text that they stand in. */
  readonly trusted: Bundle;
  readonly server: ServerPair | undefined;
  /** The authorities that lie beside Viola's certificate, for other callers of Viola. */
  readonly shown: string;
}

export interface Bundle {
  readonly text: string;
  readonly authorities: readonly Certificate[];
}

export interface ServerPair extends Pair {
  /** Who signed it, of all authorities that are held anywhere. */
  readonly issuer: Certificate | undefined;
}

/** Keys of both Secrets. */
export const tlsKeys = { authorities: 'ca.crt', certificate: 'tls.crt', key: 'tls.key' } as const;

/** `remembered` is what this process believes: Viola may still show what was signed by it when both Secrets are lost. */
export function storedTls(
  authority: ReadSecret,
  certificate: ReadSecret,
  remembered?: string,
): StoredTls {
  const signing = signingPair(authority);
  const text = authority.data[tlsKeys.authorities] ?? '';
  const shown = certificate.data[tlsKeys.authorities] ?? '';
  const trusted = { text, authorities: [...authoritiesIn(text), ...authoritiesIn(remembered)] };
  // Deleting the authority alone leaves what it signed known.
  const known = [
    ...(signing ? [signing.certificate] : []),
    ...trusted.authorities,
    ...authoritiesIn(shown),
  ];
  const server = pairOf(certificate);
  const issuer = server && known.find((one) => isSignedBy(server.certificate, one));
  return { signing, trusted, shown, server: server && { ...server, issuer } };
}

function signingPair(held: ReadSecret): Pair | undefined {
  const pair = pairOf(held);
  return pair && authoritiesIn(pair.certificate.pem).length > 0 ? pair : undefined;
}

function pairOf({ data }: ReadSecret): Pair | undefined {
  return pairIn(data[tlsKeys.certificate], data[tlsKeys.key]);
}
