import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Logger } from '../process/log.ts';

/** Returns CA certificates (PEM), called at each use; undefined = system CAs. */
export type CaBundle = () => Promise<string | undefined>;

export const systemAuthorities: CaBundle = () => Promise.resolve(undefined);

/**
 * Opens a CA file, replaceable while the process runs. Throws if unusable at start. If the file breaks later, as
 * during a replacement, the last good content stays in use.
 */
export async function openCaBundle(path: string, log: Logger): Promise<CaBundle> {
  let bundle = await authoritiesIn(path).catch((cause: Error) => {
    const what = `CA file ${path} cannot be used`;
    throw new Error(`${what}: ${cause.message}; the file must contain PEM certificates`, { cause });
  });
  let lastError: string | undefined;
  return async () => {
    try {
      const current = await authoritiesIn(path);
      if (current !== bundle) log.info({ path }, 'CA file read');
      bundle = current;
      lastError = undefined;
    } catch (error) {
      const why = String(error);
      if (why !== lastError) log.error({ path, err: error }, 'CA file cannot be used');
      lastError = why;
    }
    return bundle;
  };
}

const begin = '-----BEGIN CERTIFICATE-----';
const whole = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** Validates the text: Node.js silently trusts system CAs when `ca` is unreadable. */
async function authoritiesIn(path: string): Promise<string> {
  const text = await readFile(path, 'utf8');
  const certificates = text.match(whole) ?? [];
  if (certificates.length === 0) throw new Error(`no certificate in ${path}`);
  const cutShort = text.split(begin).length - 1 !== certificates.length;
  if (cutShort || !certificates.every(isReadable)) {
    throw new Error(`a certificate in ${path} cannot be read`);
  }
  return text;
}

function isReadable(certificate: string): boolean {
  try {
    return new X509Certificate(certificate).publicKey !== undefined;
  } catch {
    return false; // unreadable for OpenSSL: unusable for verification
  }
}
