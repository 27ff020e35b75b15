import { expect, it } from 'vitest';
import { InnerAddress } from '../../requests/inner-addresses.ts';
import { BrokerFailure, brokerFailure } from './broker-failure.ts';

// As Node.js 24 names what OpenSSL 3 finds, seen with certificates that are so.
it.each([
  ['it has expired', 'CERT_HAS_EXPIRED'],
  ['it is of another host', 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ['nobody vouches for it', 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  ['its issuer is not known', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ['it is one of clients, or its issuer is no authority', 'INVALID_PURPOSE'],
  ['its issuer is no authority', 'INVALID_CA'],
  ['there are too many issuers', 'PATH_LENGTH_EXCEEDED'],
  ['its key is too short, or signed with SHA-1', 'UNSPECIFIED'],
  ['one of ours is asked for', 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED'],
  ['the peer speaks no TLS', 'EPROTO'],
])('a certificate that will not do is told as such: %s', (_what, code) => {
  const error = Object.assign(new Error('why'), { code });
  expect(brokerFailure(error)).toMatchObject({ kind: 'certificate', message: 'why', cause: error });
});

it.each(['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'EPIPE'])('%s is no certificate', (code) => {
  expect(brokerFailure(Object.assign(new Error(), { code }))).toMatchObject({
    kind: 'unreachable',
    message: code,
  });
});

it('what is known already, an inner address, a value that is missing and no error are told as what they are', () => {
  const known = new BrokerFailure('queueGone', 'x');
  expect(brokerFailure(known)).toBe(known);
  expect(brokerFailure(new InnerAddress('inside'))).toMatchObject({
    kind: 'denied',
    message: 'inside',
  });
  expect(brokerFailure(new RangeError('offset'))).toMatchObject({ kind: 'protocol' });
  expect(brokerFailure('odd')).toMatchObject({ kind: 'unreachable', message: 'odd' });
});
