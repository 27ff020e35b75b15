import { createHmac } from 'node:crypto';
import type { Secret } from '../../kube/core-resources.ts';
import { loginOf } from './login.ts';

/** Annotation on Pods that log in: a changed value restarts the Pods. */
export const revisionAnnotation = 'multinic.io/credentials';

/** Returns 16 hexadecimal digits that change with the login; undefined: missing or incomplete Secret. */
export function credentialsRevision(secret: Secret | undefined): string | undefined {
  const login = loginOf(secret);
  if (!login) return undefined;
  const { salt, ...rest } = login;
  const contents = JSON.stringify([rest.rootPassword, rest.password, rest.database, rest.user]);
  return createHmac('sha256', salt).update(contents).digest('hex').slice(0, 16);
}
