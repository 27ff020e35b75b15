import { X509Certificate } from 'node:crypto';
import { expect, it } from 'vitest';
import { authoritiesIn, isSignedBy, pairIn } from './certificate.ts';
import { issueAuthority, issueServer } from './issue.ts';

const years = (from: number, until: number) => ({
  from: new Date(`${from}-03-01T12:00:00Z`),
  until: new Date(`${until}-03-01T12:00:00Z`),
});
const names = ['viola-api', 'viola-api.ns.svc', '127.0.0.1', '::1'];

it('issueServer creates a certificate its CA verifies, for names and addresses', () => {
  const authority = issueAuthority(years(2026, 2036));
  const server = issueServer(authority, names, years(2026, 2027));
  const ca = new X509Certificate(authority.certificate);
  const leaf = new X509Certificate(server.certificate);
  expect(leaf.checkIssued(ca)).toBe(true);
  expect(leaf.verify(ca.publicKey)).toBe(true);
  expect([ca.ca, leaf.ca]).toEqual([true, false]);
  expect(leaf.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
  for (const host of ['viola-api', 'viola-api.ns.svc']) expect(leaf.checkHost(host)).toBe(host);
  for (const address of ['127.0.0.1', '::1']) expect(leaf.checkIP(address)).toBe(address);
  expect(leaf.checkHost('viola-api.other.svc')).toBeUndefined();
});

it('issueAuthority encodes validity before and after 2050, where X.509 changes the time format', () => {
  for (const validity of [years(2026, 2036), years(2049, 2059), years(2060, 2070)]) {
    const { certificate, key } = issueAuthority(validity);
    const { fromMs, untilMs } = pairIn(certificate, key)?.certificate ?? {};
    expect([fromMs, untilMs]).toEqual([validity.from.getTime(), validity.until.getTime()]);
  }
});

it('issueAuthority gives every CA its own subject, serial number and key', () => {
  const all = Array.from({ length: 20 }, () => issueAuthority(years(2026, 2036)));
  const read = all.map(({ certificate }) => new X509Certificate(certificate));
  expect(new Set(read.map(({ subject }) => subject)).size).toBe(20);
  expect(new Set(read.map(({ serialNumber }) => serialNumber)).size).toBe(20);
  for (const { serialNumber } of read) expect(serialNumber).toMatch(/^[4-7][0-9A-F]{31}$/);
  const [one, other] = all.flatMap(({ certificate }) => authoritiesIn(certificate));
  if (!one || !other) throw new Error('none can be read');
  expect([isSignedBy(one, one), isSignedBy(one, other)]).toEqual([true, false]);
});
