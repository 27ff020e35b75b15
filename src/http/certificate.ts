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
  /** What the flags begin with, such as `inventory-`. */
  readonly prefix?: string;
}

export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** How often the files are looked at; whoever renews a certificate does so days before it ends. */
export const certificateLookMs = 60_000;

/** The files of the server's certificate; none only on loopback, or when somebody said so. */
export function certificateFilesOf(settings: TlsSettings): CertificateFiles | undefined {
  const { listen, certFile, keyFile, plainHttp, prefix = '' } = settings;
  if (certFile !== undefined && keyFile !== undefined) return { certFile, keyFile };
  if (certFile !== undefined || keyFile !== undefined) {
    throw new Error(`--${prefix}tls-cert and --${prefix}tls-key go together`);
  }
  if (plainHttp || isLoopback(listen.host)) return undefined;
  throw new Error(
    `--${prefix}listen ${listen.host}:${listen.port} is not loopback: give --${prefix}tls-cert and --${prefix}tls-key, or say --${prefix}plain-http true when something else guards it`,
  );
}

/** Reads certificate and key; throws when they do not fit each other. */
export async function readCertificate(files: CertificateFiles): Promise<Certificate> {
  const cert = await readFile(files.certFile, 'utf8');
  const key = await readFile(files.keyFile, 'utf8');
  createSecureContext({ cert, key });
  return { cert, key };
}

export interface FollowOptions {
  /** What the server began with: the files may have been renewed since. */
  readonly first: Certificate;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Takes a renewed certificate into use for new connections until the signal aborts. One that cannot be used, or is seen
 * half replaced, is looked at again a minute later; until then the last good one stays.
 */
export async function followCertificate(
  app: HttpServer,
  files: CertificateFiles,
  { first, clock, log }: FollowOptions,
  signal: AbortSignal,
): Promise<void> {
  let inUse = first;
  while (await waited(clock, signal)) {
    try {
      const now = await readCertificate(files);
      if (now.cert === inUse.cert && now.key === inUse.key) continue;
      if ('setSecureContext' in app.server) app.server.setSecureContext({ ...now });
      inUse = now;
      log.info({ file: files.certFile }, 'renewed certificate in use');
    } catch (error) {
      log.error(
        { err: error, file: files.certFile },
        'certificate cannot be used, keeping the last',
      );
    }
  }
}

/** False when the signal ended the wait. */
function waited(clock: Clock, signal: AbortSignal): Promise<boolean> {
  return clock.sleep(certificateLookMs, signal).then(
    () => true,
    () => false,
  );
}
