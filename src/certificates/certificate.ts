import { createPrivateKey, X509Certificate } from 'node:crypto';

/** What is decided by of a certificate. */
export interface Certificate {
  readonly pem: string;
  readonly id: string;
  readonly fromMs: number;
  readonly untilMs: number;
  /** Host names and addresses that it is for. */
  readonly names: readonly string[];
}

/** A certificate with its private key (PEM). */
export interface Pair {
  readonly certificate: Certificate;
  readonly key: string;
}

/** Certificate authorities in a text of PEM; what cannot be read, or is none, is left out. */
export function authoritiesIn(text: string | undefined): readonly Certificate[] {
  return certificatesIn(text)
    .filter((read) => read.ca)
    .map(factsOf);
}

/** The first certificate of a text with the key that fits it. */
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
    return undefined; // whatever OpenSSL says of it, it has to be made anew
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
