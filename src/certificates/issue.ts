import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto';
import { isIP } from 'node:net';
import { AsnConvert, OctetString } from '@peculiar/asn1-schema';
import * as x509 from '@peculiar/asn1-x509';

// Node.js can read certificates but not create any. This module is loaded only for issuing, once in two months.

/** Certificate validity period. */
export interface Validity {
  readonly from: Date;
  readonly until: Date;
}

/** Certificate and private key as PEM. */
export interface Issued {
  readonly certificate: string;
  readonly key: string;
}

/** Returns a self-signed CA. Every CA name is unique: OpenSSL must not confuse two CAs. */
export function issueAuthority(validity: Validity): Issued {
  const key = newKey();
  const subject = nameOf(`MultiNIC CA ${randomBytes(4).toString('hex')}`);
  const extensions = [
    extension(
      x509.id_ce_basicConstraints,
      new x509.BasicConstraints({ cA: true, pathLenConstraint: 0 }),
    ),
    extension(
      x509.id_ce_keyUsage,
      usage(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign),
    ),
  ];
  return signedCertificate(key, { subject, extensions, validity, issuer: subject, signer: key });
}

/** Returns a server certificate for these names, signed by a CA. */
export function issueServer(by: Issued, names: readonly string[], validity: Validity): Issued {
  const signer = createPrivateKey(by.key);
  const authority = AsnConvert.parse(new X509Certificate(by.certificate).raw, x509.Certificate);
  const general = names.map((name) =>
    isIP(name)
      ? new x509.GeneralName({ iPAddress: name })
      : new x509.GeneralName({ dNSName: name }),
  );
  const extensions = [
    extension(x509.id_ce_basicConstraints, new x509.BasicConstraints({ cA: false })),
    extension(x509.id_ce_keyUsage, usage(x509.KeyUsageFlags.digitalSignature)),
    extension(x509.id_ce_extKeyUsage, new x509.ExtendedKeyUsage([x509.id_kp_serverAuth]), false),
    extension(x509.id_ce_subjectAltName, new x509.SubjectAlternativeName(general), false),
  ];
  return signedCertificate(newKey(), {
    subject: nameOf(names[0] ?? ''),
    extensions,
    validity,
    issuer: authority.tbsCertificate.subject,
    signer,
  });
}

interface CertificateParts {
  readonly subject: x509.Name;
  readonly issuer: x509.Name;
  readonly signer: KeyObject;
  readonly validity: Validity;
  readonly extensions: readonly x509.Extension[];
}

function signedCertificate(
  key: KeyObject,
  { subject, issuer, signer, validity, extensions }: CertificateParts,
): Issued {
  const algorithm = new x509.AlgorithmIdentifier({ algorithm: ecdsaWithSha256 });
  const own = publicKeyInfo(key);
  const tbsCertificate = new x509.TBSCertificate({
    version: x509.Version.v3,
    serialNumber: bytes(serial()),
    signature: algorithm,
    issuer,
    subject,
    validity: new x509.Validity({ notBefore: validity.from, notAfter: validity.until }),
    subjectPublicKeyInfo: own,
    extensions: new x509.Extensions([
      ...extensions,
      extension(x509.id_ce_subjectKeyIdentifier, new x509.SubjectKeyIdentifier(keyId(own)), false),
      extension(
        x509.id_ce_authorityKeyIdentifier,
        new x509.AuthorityKeyIdentifier({
          keyIdentifier: new x509.KeyIdentifier(keyId(publicKeyInfo(signer))),
        }),
        false,
      ),
    ]),
  });
  const signature = sign('sha256', Buffer.from(AsnConvert.serialize(tbsCertificate)), signer);
  const certificate = new x509.Certificate({
    tbsCertificate,
    signatureAlgorithm: algorithm,
    signatureValue: bytes(signature),
  });
  return {
    certificate: new X509Certificate(Buffer.from(AsnConvert.serialize(certificate))).toString(),
    key: key.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

const ecdsaWithSha256 = '1.2.840.10045.4.3.2';
const commonName = '2.5.4.3';

function newKey(): KeyObject {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
}

function nameOf(text: string): x509.Name {
  const value = new x509.AttributeValue({ utf8String: text });
  const part = new x509.AttributeTypeAndValue({ type: commonName, value });
  return new x509.Name([new x509.RelativeDistinguishedName([part])]);
}

function extension(id: string, value: object, critical = true): x509.Extension {
  const extnValue = new OctetString(AsnConvert.serialize(value));
  return new x509.Extension({ extnID: id, critical, extnValue });
}

function usage(flags: number): x509.KeyUsage {
  return new x509.KeyUsage(flags);
}

function publicKeyInfo(key: KeyObject): x509.SubjectPublicKeyInfo {
  const der = createPublicKey(key).export({ type: 'spki', format: 'der' });
  return AsnConvert.parse(der, x509.SubjectPublicKeyInfo);
}

/** Key identifier: RFC 5280, 4.2.1.2, method 1. */
function keyId({ subjectPublicKey }: x509.SubjectPublicKeyInfo): ArrayBuffer {
  return bytes(createHash('sha1').update(Buffer.from(subjectPublicKey)).digest());
}

/** Returns a positive serial number with a fixed length: 16 bytes. */
function serial(): Buffer {
  const random = randomBytes(16);
  random[0] = ((random[0] ?? 0) & 0x3f) | 0x40;
  return random;
}

/** Returns a separate ArrayBuffer: a Buffer may share a pool. */
function bytes(buffer: Buffer): ArrayBuffer {
  return new Uint8Array(buffer).buffer;
}
