import { type DestinationStream, type Logger, pino } from 'pino';

export type { Logger } from 'pino';

/**
 * Log keys with redacted values, at the first three object levels. Log a Secret's name as `secretName`: under
 * `secret` the name would be redacted.
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

/** Log levels, most verbose first. */
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

export interface LogOptions {
  readonly part: string;
  readonly level: string;
  readonly destination?: DestinationStream;
}

/** Creates a JSON logger on stdout: static lower-case messages plus fields; secrets redacted by key. */
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
