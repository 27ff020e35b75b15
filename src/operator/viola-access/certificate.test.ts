import { describe, expect, it } from 'vitest';
import { good, violaCa } from '../../../test/beds/certificates.ts';
import { testCertificate, testKey } from '../../requests/test-certificate.ts';
import { authoritiesIn, pairIn } from './certificate.ts';

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
