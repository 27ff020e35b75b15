import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { good, violaCa } from '../../test/fixtures/certificates.ts';
import { testCertificate, testKey } from '../requests/test-certificate.ts';
import { authoritiesIn, isSignedBy, pairIn } from './certificate.ts';
import { issueAuthority, issueServer } from './issue.ts';

describe('pairIn', () => {
  it('reads names and times of a certificate whose key fits', () => {
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
    ['the key of another one', testCertificate, good.key],
    ['a key that is cut short', testCertificate, testKey.slice(0, 80)],
    ['a certificate that is cut short', testCertificate.slice(0, 200), testKey],
    ['a certificate of nothing', testCertificate.replace('MIIB', 'AAAA'), testKey],
    ['something else', 'hello', 'hello'],
  ])('has none of %s', (_, certificate, key) => {
    expect(pairIn(certificate, key)).toBeUndefined();
  });
});

describe('isSignedBy', () => {
  const validity = { from: new Date(0), until: new Date('2040-01-01') };
  const by = issueAuthority(validity);
  const [authority] = authoritiesIn(by.certificate);
  const pem = issueServer(by, ['viola-api'], validity).certificate;

  /** Whether it holds with one bit of the signature, which is the end of it, changed. */
  function isSigned(change: number): boolean {
    const der = Buffer.from(new X509Certificate(pem).raw);
    der[der.length - 1] = (der.at(-1) ?? 0) ^ change;
    const text = `-----BEGIN CERTIFICATE-----\n${der.toString('base64')}\n-----END CERTIFICATE-----\n`;
    const facts = { id: '', fromMs: 0, untilMs: 0, names: [], pem: text };
    return authority !== undefined && isSignedBy(facts, authority);
  }

  it('goes by the signature, not by what a certificate says of its issuer', () => {
    expect([isSigned(0), isSigned(1)]).toEqual([true, false]);
  });
});

describe('authoritiesIn', () => {
  it('reads those that are authorities, whatever stands between them', () => {
    const text = `# ours\n${violaCa}${good.cert}rubbish\n${testCertificate}${violaCa.slice(0, 200)}`;
    const pems = authoritiesIn(text).map(({ pem }) => pem);
    expect(pems.map((pem) => pem.trim())).toEqual([violaCa.trim(), testCertificate.trim()]);
  });

  it('reads none of nothing', () => {
    expect(authoritiesIn(undefined)).toEqual([]);
  });
});
