import { expect, it } from 'vitest';
import { InnerAddress } from '../../requests/inner-addresses.ts';
import { BrokerFailure, brokerFailure } from './broker-failure.ts';

// Codes that Node.js 24 with OpenSSL 3 reported for such certificates.
it.each([
  ['expired', 'CERT_HAS_EXPIRED'],
  ['another host name', 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ['self-signed', 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  ['unknown issuer', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ['a client certificate, or an issuer without CA flag', 'INVALID_PURPOSE'],
  ['an issuer without CA flag', 'INVALID_CA'],
  ['too many issuers', 'PATH_LENGTH_EXCEEDED'],
  ['a short key, or a SHA-1 signature', 'UNSPECIFIED'],
  ['a missing client certificate', 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED'],
  ['a peer without TLS', 'EPROTO'],
])('brokerFailure classifies a certificate problem: %s', (_what, code) => {
  const error = Object.assign(new Error('why'), { code });
  expect(brokerFailure(error)).toMatchObject({ kind: 'certificate', message: 'why', cause: error });
});

it.each(['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'EPIPE'])(
  '%s does not count as a certificate problem',
  (code) => {
    expect(brokerFailure(Object.assign(new Error(), { code }))).toMatchObject({
      kind: 'unreachable',
      message: code,
    });
  },
);

it('brokerFailure keeps a BrokerFailure and classifies InnerAddress, RangeError and non-errors', () => {
  const known = new BrokerFailure('queueGone', 'x');
  expect(brokerFailure(known)).toBe(known);
  expect(brokerFailure(new InnerAddress('inside'))).toMatchObject({
    kind: 'denied',
    message: 'inside',
  });
  expect(brokerFailure(new RangeError('offset'))).toMatchObject({ kind: 'protocol' });
  expect(brokerFailure('odd')).toMatchObject({ kind: 'unreachable', message: 'odd' });
});
