import type { Secret } from '../../kube/core-resources.ts';

/** Decoded content of MariaDB's Secret. */
export interface Login {
  readonly rootPassword: string;
  readonly password: string;
  readonly database: string;
  readonly user: string;
  /** HMAC key for the revision: a Pod's annotation reveals nothing about the passwords. */
  readonly salt: string;
}

export const loginKeys = ['rootPassword', 'password', 'database', 'user', 'salt'] as const;

/** Secret keys rendered from the login: the server's init file and the clients' option file. */
export const renderedKeys = { initFile: 'init.sql', clientOptions: 'client.cnf' } as const;

/** Returns the non-empty keys. */
export function partialLogin(secret: Secret | undefined): Partial<Login> {
  const found = loginKeys.flatMap((key) => {
    const value = secret?.data?.[key];
    return value ? [[key, Buffer.from(value, 'base64').toString('utf8')] as const] : [];
  });
  return Object.fromEntries(found);
}

/** Returns undefined if a key is missing. */
export function loginOf(secret: Secret | undefined): Login | undefined {
  const login = partialLogin(secret);
  return loginKeys.every((key) => login[key] !== undefined) ? (login as Login) : undefined;
}
