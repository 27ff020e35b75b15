import { authoritiesIn, type Certificate, pairIn } from '../../certificates/certificate.ts';
import { tlsKeys } from '../../certificates/stored-tls.ts';
import type { Secret } from '../../kube/core-resources.ts';

/** Certificate and key of the webhook as its Secret holds them. */
export interface ServedCertificate {
  readonly cert: string;
  readonly key: string;
  readonly certificate: Certificate;
  /** PEM of the authorities beside it. */
  readonly authorities: string;
}

/** Undefined: the Secret is missing, or holds no certificate with the key that fits it. */
export function servedCertificate(secret: Secret | undefined): ServedCertificate | undefined {
  const text = (key: string): string =>
    Buffer.from(secret?.data?.[key] ?? '', 'base64').toString('utf8');
  const pair = pairIn(text(tlsKeys.certificate), text(tlsKeys.key));
  if (!pair) return undefined;
  const authorities = authoritiesIn(text(tlsKeys.authorities)).map(({ pem }) => pem);
  const { certificate, key } = pair;
  return { cert: certificate.pem, key, certificate, authorities: authorities.join('') };
}
