import { createHash } from 'node:crypto';
import type { Secret } from '../../kube/core-resources.ts';

/** Annotation of the Pods that log in: another value restarts them. */
export const revisionAnnotation = 'multinic.io/credentials';

/** Returns 16 hexadecimal digits that change with the login; undefined: the Secret is absent or incomplete. */
export function credentialsRevision(secret: Secret | undefined): string | undefined {
  const { database, user, password } = secret?.data ?? {};
  if (!database || !user || !password) return undefined;
  const contents = JSON.stringify([database, user, password]);
  return createHash('sha256').update(contents).digest('hex').slice(0, 16);
}
