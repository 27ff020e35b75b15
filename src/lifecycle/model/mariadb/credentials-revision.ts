import { createHmac } from 'node:crypto';
import type { Secret } from '../../../kube/core-resources.ts';
import { partialLogin } from './login.ts';

/** Annotation on Pods that log in: a changed value restarts the Pods. */
export const revisionAnnotation = 'multinic.io/credentials';

/**
 * Returns 16 hexadecimal digits that change with the login; undefined: missing or incomplete Secret. Secrets from
 * earlier releases have no backup password, and get the same value as in that release.
 */
export function credentialsRevision(secret: Secret | undefined): string | undefined {
  const { salt, rootPassword, password, backupPassword, database, user } = partialLogin(secret);
  const required = [rootPassword, password, database, user];
  if (salt === undefined || required.includes(undefined)) return undefined;
  const values = backupPassword === undefined ? required : [...required, backupPassword];
  return createHmac('sha256', salt).update(JSON.stringify(values)).digest('hex').slice(0, 16);
}
