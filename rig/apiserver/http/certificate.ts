import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

export interface ServerCertificate {
  /** PEM; its own authority. */
  readonly certificate: string;
  /** PEM. */
  readonly privateKey: string;
}

const day = 86_400_000;
const oid = {
  ecdsaWithSha256: '06082a8648ce3d040302',
  commonName: '0603550403',
  basicConstraints: '0603551d13',
  subjectAltName: '0603551d11',
} as const;

/**
 * A self-signed certificate for 127.0.0.1 that is valid for a week (RFC 5280). Node.js makes keys and signatures but no
 * certificates, and a demo must not need openssl.
 */
export function loopbackCertificate(now: Date): ServerCertificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(bytes(oid.ecdsaWithSha256));
  const name = sequence(tlv(0x31, sequence(bytes(oid.commonName), utf8('multinic-apiserver'))));
  const validity = sequence(time(now.getTime() - day), time(now.getTime() + 7 * day));
  const serial = Buffer.concat([Buffer.of(0x01), randomBytes(8)]);
  const body = sequence(
    tlv(0xa0, tlv(0x02, Buffer.of(2))),
    tlv(0x02, serial),
    algorithm,
    name,
    validity,
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    tlv(0xa3, sequence(authority(), loopback())),
  );
  const signature = sign('sha256', body, privateKey);
  const bitString = tlv(0x03, Buffer.concat([Buffer.of(0), signature]));
  return {
    certificate: pem(sequence(body, algorithm, bitString)),
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

/** CA:TRUE, so that clients may trust it as its own authority. */
function authority(): Buffer {
  const isAuthority = sequence(tlv(0x01, Buffer.of(0xff)));
  return sequence(bytes(oid.basicConstraints), tlv(0x04, isAuthority));
}

function loopback(): Buffer {
  const address = tlv(0x87, Buffer.of(127, 0, 0, 1));
  return sequence(bytes(oid.subjectAltName), tlv(0x04, sequence(address)));
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return tlv(0x30, Buffer.concat(parts));
}

function utf8(text: string): Buffer {
  return tlv(0x0c, Buffer.from(text));
}

/** UTCTime, `YYMMDDhhmmssZ`. */
function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replaceAll(/[-:T]/g, '').slice(2, 14);
  return tlv(0x17, Buffer.from(`${digits}Z`));
}

function bytes(hex: string): Buffer {
  return Buffer.from(hex, 'hex');
}

/** DER: tag, length (long form from 128 on), content. */
function tlv(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size =
    length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...size), content]);
}

function pem(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}
