import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import type { Logger } from '../process/log.ts';
import { UnusableSettingError } from '../process/unusable-setting.ts';
import type { Clock } from '../time/clock.ts';
import type { HttpServer } from './app.ts';
import { isLoopback } from './loopback.ts';

export interface TlsSettings {
  readonly listen: { readonly host: string; readonly port: number };
  readonly certFile: string | undefined;
  readonly keyFile: string | undefined;
  /** True if the user declared that other means protect plain HTTP. */
  readonly plainHttp: boolean;
  /** Flag prefix of the files, such as `api-`. */
  readonly prefix?: string;
  /** Flag of the address; default: `PREFIXlisten`. */
  readonly listenFlag?: string;
  /** Advice in the error about a missing file. */
  readonly madeBy?: string;
}

export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
  readonly madeBy?: string | undefined;
}

export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** Returns the certificate's (PEM) expiry time. */
export function endOf({ cert }: Pick<Certificate, 'cert'>): Date {
  return new X509Certificate(cert).validToDate;
}

/** File check interval: certificates are renewed days before expiry. */
export const certificateRereadMs = 60_000;
/** Warning threshold: 7 days before expiry the renewal must have failed. */
const warnBeforeMs = 7 * 86_400_000;

/** Returns the server certificate's files; undefined only on loopback, or with plainHttp. */
export function certificateFilesOf(settings: TlsSettings): CertificateFiles | undefined {
  const { listen, certFile, keyFile, plainHttp, prefix = '', madeBy } = settings;
  const { listenFlag = 'listen' } = settings;
  if (certFile !== undefined && keyFile !== undefined) return { certFile, keyFile, madeBy };
  if (certFile !== undefined || keyFile !== undefined) {
    throw new UnusableSettingError(
      `--${prefix}tls-cert and --${prefix}tls-key belong together: set both, or neither`,
    );
  }
  if (plainHttp || isLoopback(listen.host)) return undefined;
  throw new UnusableSettingError(
    `--${listenFlag} ${listen.host}:${listen.port} is not loopback: give --${prefix}tls-cert and --${prefix}tls-key, or set --${prefix}plain-http true if a proxy or mesh encrypts it`,
  );
}

/** Reads certificate and key; throws if they do not match. The error about a missing file contains `madeBy`. */
export async function readCertificate(files: CertificateFiles): Promise<Certificate> {
  const { certFile, keyFile, madeBy } = files;
  const cert = await readNeeded(certFile, madeBy);
  const key = await readNeeded(keyFile, madeBy);
  createSecureContext({ cert, key });
  // createSecureContext accepts empty text without error, as during a write, and creates a context without
  // certificate.
  endOf({ cert });
  createPrivateKey(key);
  return { cert, key };
}

async function readNeeded(
  path: string,
  madeBy = 'create it, or name another file',
): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new Error(`${path} does not exist: ${madeBy}`, { cause: error });
  }
}

export interface FollowOptions {
  /** The server's initial certificate: the files may have been renewed since. */
  readonly first: Certificate;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called for the initial certificate, and for each later one in use. */
  readonly onUse?: (certificate: Certificate) => void;
}

/**
 * Uses renewed certificates for new connections until the signal aborts. An unusable or half-replaced certificate is
 * read again after a minute; until then the last good certificate stays.
 */
export async function followCertificate(
  app: HttpServer,
  files: CertificateFiles,
  { first, clock, log, onUse }: FollowOptions,
  signal: AbortSignal,
): Promise<void> {
  let inUse = first;
  let lastWarning: string | undefined;
  onUse?.(first);

  function warnBeforeExpiry(): void {
    const endsAt = endOf(inUse);
    const warning = warningFor(endsAt.getTime() - clock.now().getTime());
    if (warning !== undefined && warning !== lastWarning)
      log.error({ file: files.certFile, endsAt }, warning);
    lastWarning = warning;
  }

  warnBeforeExpiry();
  for (; await waited(clock, signal); warnBeforeExpiry()) {
    try {
      const current = await readCertificate(files);
      if (current.cert === inUse.cert && current.key === inUse.key) continue;
      if ('setSecureContext' in app.server) app.server.setSecureContext({ ...current });
      inUse = current;
      onUse?.(current);
      log.info({ file: files.certFile }, 'renewed certificate in use');
    } catch (error) {
      log.error(
        { err: error, file: files.certFile },
        'certificate cannot be used, last good one stays in use',
      );
    }
  }
}

function warningFor(leftMs: number): string | undefined {
  if (leftMs <= 0) return 'certificate expired: callers that verify it fail';
  return leftMs < warnBeforeMs ? 'certificate expires soon and is not renewed' : undefined;
}

/** Resolves to false if the signal aborts the wait. */
function waited(clock: Clock, signal: AbortSignal): Promise<boolean> {
  return clock.sleep(certificateRereadMs, signal).then(
    () => true,
    () => false,
  );
}
