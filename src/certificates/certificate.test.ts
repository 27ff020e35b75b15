import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { good, violaCa } from '../../test/fixtures/certificates.ts';
import { testCertificate, testKey } from '../requests/test-certificate.ts';
import { authoritiesIn, isSignedBy, pairIn } from './certificate.ts';
import { issueAuthority, issueServer } from './issue.ts';

describe('pairIn', () => {
  it('pairIn returns names and validity when the key matches the certificate', () => {
    expect(pairIn(testCertificate, testKey)).toMatchObject({
      key: testKey,
      certificate: {
        names: ['127.0.0.1'],
        fromMs: Date.parse('2026-11-21T04:10:11Z'),
        untilMs: Date.parse('2126-10-28T04:10:11Z'),
      },
    });
  });

  it.each([
    ['no certificate', undefined, testKey],
    ['no key', testCertificate, undefined],
    ['the key for another certificate', testCertificate, good.key],
    ['a truncated key', testCertificate, testKey.slice(0, 80)],
    ['a truncated certificate', testCertificate.slice(0, 200), testKey],
    ['a certificate with invalid DER', testCertificate.replace('MIIB', 'AAAA'), testKey],
    ['text without PEM', 'hello', 'hello'],
  ])('pairIn returns undefined for %s', (_, certificate, key) => {
    expect(pairIn(certificate, key)).toBeUndefined();
  });
});

describe('isSignedBy', () => {
  const validity = { from: new Date(0), until: new Date('2040-01-01') };
  const by = issueAuthority(validity);
  const [authority] = authoritiesIn(by.certificate);
  const pem = issueServer(by, ['viola-api'], validity).certificate;

  /** Returns isSignedBy for a certificate whose last signature byte is XORed with `change`. */
  function isSigned(change: number): boolean {
    const der = Buffer.from(new X509Certificate(pem).raw);
    der[der.length - 1] = (der.at(-1) ?? 0) ^ change;
    const text = `-----BEGIN CERTIFICATE-----\n${der.toString('base64')}\n-----END CERTIFICATE-----\n`;
    const facts = { id: '', fromMs: 0, untilMs: 0, names: [], pem: text };
    return authority !== undefined && isSignedBy(facts, authority);
  }

  it('isSignedBy verifies the signature, not the issuer name', () => {
    expect([isSigned(0), isSigned(1)]).toEqual([true, false]);
  });
});

describe('authoritiesIn', () => {
  it('authoritiesIn returns only CA certificates and skips all other text', () => {
    const text = `# ours\n${violaCa}${good.cert}rubbish\n${testCertificate}${violaCa.slice(0, 200)}`;
    const pems = authoritiesIn(text).map(({ pem }) => pem);
    expect(pems.map((pem) => pem.trim())).toEqual([violaCa.trim(), testCertificate.trim()]);
  });

  it('authoritiesIn returns an empty list for undefined', () => {
    expect(authoritiesIn(undefined)).toEqual([]);
  });
});
