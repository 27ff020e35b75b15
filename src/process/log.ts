import { type DestinationStream, type Logger, pino } from 'pino';

export type { Logger } from 'pino';

/**
 * Keys whose values never reach a log line, at any of the first three levels of an object. Log the name of a Secret as
 * `secretName`: under `secret` it would be redacted.
 */
export const secretKeys = [
  'password',
  'adminPw',
  'rabbitMQPw',
  'token',
  'authorization',
  'secret',
  'encryptKey',
  'kubeconfig',
  'clientKey',
] as const;

/** From the one that says everything to the one that says nothing. */
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

export interface LogOptions {
  readonly part: string;
  readonly level: string;
  readonly destination?: DestinationStream;
}

/** JSON lines on stdout: static lower-case messages plus fields; secrets redacted by key. */
export function createLogger({ part, level, destination }: LogOptions): Logger {
  const paths = secretKeys.flatMap((key) => [key, `*.${key}`, `*.*.${key}`]);
  const options = {
    level,
    base: { part },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths, censor: '[redacted]' },
  };
  return destination ? pino(options, destination) : pino(options);
}
