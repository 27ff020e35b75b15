import { createPrivateKey, X509Certificate } from 'node:crypto';

/** Certificate facts for renewal decisions. */
export interface Certificate {
  readonly pem: string;
  readonly id: string;
  readonly fromMs: number;
  readonly untilMs: number;
  /** Host names and addresses from the subject alternative name. */
  readonly names: readonly string[];
}

/** A certificate with its private key (PEM). */
export interface Pair {
  readonly certificate: Certificate;
  readonly key: string;
}

/** Returns CA certificates from a PEM text; unreadable and non-CA certificates are left out. */
export function authoritiesIn(text: string | undefined): readonly Certificate[] {
  return certificatesIn(text)
    .filter((read) => read.ca)
    .map(factsOf);
}

/** Returns the first certificate in the text if the key matches. */
export function pairIn(certificate: string | undefined, key: string | undefined): Pair | undefined {
  const [read] = certificatesIn(certificate);
  return read && key !== undefined && fits(read, key)
    ? { certificate: factsOf(read), key }
    : undefined;
}

export function isSignedBy(certificate: Certificate, authority: Certificate): boolean {
  const [read, by] = [certificate, authority].map(({ pem }) => new X509Certificate(pem));
  return read !== undefined && by !== undefined && read.verify(by.publicKey);
}

const whole = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

function certificatesIn(text = ''): X509Certificate[] {
  return (text.match(whole) ?? []).flatMap((pem) => readable(pem) ?? []);
}

function readable(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined; // unreadable for OpenSSL: the certificate must be reissued
  }
}

function fits(certificate: X509Certificate, key: string): boolean {
  try {
    return certificate.checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}

function factsOf(read: X509Certificate): Certificate {
  const names = read.subjectAltName?.split(', ') ?? [];
  return {
    pem: read.toString(),
    id: read.fingerprint256,
    fromMs: read.validFromDate.getTime(),
    untilMs: read.validToDate.getTime(),
    names: names.map((name) => name.replace(/^(DNS|IP Address):/, '')),
  };
}
