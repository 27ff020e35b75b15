import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Logger } from '../process/log.ts';

/** Certificate authorities (PEM), asked for at each use; undefined = those of the system. */
export type CaBundle = () => Promise<string | undefined>;

export const systemAuthorities: CaBundle = () => Promise.resolve(undefined);

/**
 * Opens a file of certificate authorities, which may be replaced while the process runs. Throws when it cannot be used at the
 * start; of one that goes bad later the last good content holds, as whoever replaces it may be seen halfway.
 */
export async function openCaBundle(path: string, log: Logger): Promise<CaBundle> {
  let held = await authoritiesIn(path).catch((cause: Error) => {
    const what = `the file of certificate authorities ${path} cannot be used`;
    throw new Error(`${what}: ${cause.message}; it has to hold PEM certificates`, { cause });
  });
  let told: string | undefined;
  return async () => {
    try {
      const now = await authoritiesIn(path);
      if (now !== held) log.info({ path }, 'certificate authorities read');
      held = now;
      told = undefined;
    } catch (error) {
      const why = String(error);
      if (why !== told) log.error({ path, err: error }, 'certificate authorities cannot be used');
      told = why;
    }
    return held;
  };
}

const begin = '-----BEGIN CERTIFICATE-----';
const whole = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** Of a text that it cannot read, Node.js trusts the system's authorities without a word. */
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
    return false; // whatever OpenSSL says of it, nobody can be verified with it
  }
}
