import { authoritiesIn, type Certificate, pairIn } from '../../../certificates/certificate.ts';
import { tlsKeys } from '../../../certificates/stored-tls.ts';
import type { Secret } from '../../../kube/core-resources.ts';

/** Certificate and key of the webhook, from its Secret. */
export interface ServedCertificate {
  readonly cert: string;
  readonly key: string;
  readonly certificate: Certificate;
  /** PEM of the CAs next to the certificate. */
  readonly authorities: string;
}

/** Returns undefined if the Secret is missing, or lacks a certificate with matching key. */
export function servedCertificate(secret: Secret | undefined): ServedCertificate | undefined {
  const text = (key: string): string =>
    Buffer.from(secret?.data?.[key] ?? '', 'base64').toString('utf8');
  const pair = pairIn(text(tlsKeys.certificate), text(tlsKeys.key));
  if (!pair) return undefined;
  const authorities = authoritiesIn(text(tlsKeys.authorities)).map(({ pem }) => pem);
  const { certificate, key } = pair;
  return { cert: certificate.pem, key, certificate, authorities: authorities.join('') };
}
