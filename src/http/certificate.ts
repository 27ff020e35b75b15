import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import type { Logger } from '../process/log.ts';
import type { Clock } from '../time/clock.ts';
import type { HttpServer } from './app.ts';
import { isLoopback } from './loopback.ts';

export interface TlsSettings {
  readonly listen: { readonly host: string; readonly port: number };
  readonly certFile: string | undefined;
  readonly keyFile: string | undefined;
  /** Somebody said that plain HTTP is guarded by something else. */
  readonly plainHttp: boolean;
  /** What the flags of the files begin with, such as `api-`. */
  readonly prefix?: string;
  /** Flag of the address; default: `listen`. */
  readonly listenFlag?: string;
  /** Who makes the files, for whoever finds them missing. */
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

/** When a certificate (PEM) ends. */
export function endOf({ cert }: Pick<Certificate, 'cert'>): Date {
  return new X509Certificate(cert).validToDate;
}

/** How often the files are looked at; whoever renews a certificate does so days before it ends. */
export const certificateLookMs = 60_000;
/** So long before its end whoever renews it must have failed. */
const soonMs = 7 * 86_400_000;

/** The files of the server's certificate; none only on loopback, or when somebody said so. */
export function certificateFilesOf(settings: TlsSettings): CertificateFiles | undefined {
  const { listen, certFile, keyFile, plainHttp, prefix = '', madeBy } = settings;
  const { listenFlag = 'listen' } = settings;
  if (certFile !== undefined && keyFile !== undefined) return { certFile, keyFile, madeBy };
  if (certFile !== undefined || keyFile !== undefined) {
    throw new Error(`--${prefix}tls-cert and --${prefix}tls-key go together`);
  }
  if (plainHttp || isLoopback(listen.host)) return undefined;
  throw new Error(
    `--${listenFlag} ${listen.host}:${listen.port} is not loopback: give --${prefix}tls-cert and --${prefix}tls-key, or say --${prefix}plain-http true when something else guards it`,
  );
}

/** Reads certificate and key; throws when they do not fit each other, and says who makes a file that is not there. */
export async function readCertificate(files: CertificateFiles): Promise<Certificate> {
  const { certFile, keyFile, madeBy } = files;
  const cert = await readNeeded(certFile, madeBy);
  const key = await readNeeded(keyFile, madeBy);
  createSecureContext({ cert, key });
  // Of an empty text, as of a file that is being written, it makes a context without a certificate, and says nothing.
  endOf({ cert });
  createPrivateKey(key);
  return { cert, key };
}

async function readNeeded(path: string, madeBy = 'make it, or name another file'): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new Error(`${path} is not there: ${madeBy}`, { cause: error });
  }
}

export interface FollowOptions {
  /** What the server began with: the files may have been renewed since. */
  readonly first: Certificate;
  readonly clock: Clock;
  readonly log: Logger;
  /** Told of the certificate that the server began with, and of each that is taken into use later. */
  readonly onUse?: (certificate: Certificate) => void;
}

/**
 * Takes a renewed certificate into use for new connections until the signal aborts. One that cannot be used, or is seen
 * half replaced, is looked at again a minute later; until then the last good one stays.
 */
export async function followCertificate(
  app: HttpServer,
  files: CertificateFiles,
  { first, clock, log, onUse }: FollowOptions,
  signal: AbortSignal,
): Promise<void> {
  let inUse = first;
  let told: string | undefined;
  onUse?.(first);

  function tellEnd(): void {
    const endsAt = endOf(inUse);
    const said = wordOf(endsAt.getTime() - clock.now().getTime());
    if (said !== undefined && said !== told) log.error({ file: files.certFile, endsAt }, said);
    told = said;
  }

  tellEnd();
  for (; await waited(clock, signal); tellEnd()) {
    try {
      const now = await readCertificate(files);
      if (now.cert === inUse.cert && now.key === inUse.key) continue;
      if ('setSecureContext' in app.server) app.server.setSecureContext({ ...now });
      inUse = now;
      onUse?.(now);
      log.info({ file: files.certFile }, 'renewed certificate in use');
    } catch (error) {
      log.error(
        { err: error, file: files.certFile },
        'certificate cannot be used, keeping the last',
      );
    }
  }
}

function wordOf(leftMs: number): string | undefined {
  if (leftMs <= 0) return 'the certificate has expired: no caller that verifies it gets through';
  return leftMs < soonMs ? 'the certificate ends soon, and nobody has renewed it' : undefined;
}

/** False when the signal ended the wait. */
function waited(clock: Clock, signal: AbortSignal): Promise<boolean> {
  return clock.sleep(certificateLookMs, signal).then(
    () => true,
    () => false,
  );
}
