import type { Secret } from '../../../kube/core-resources.ts';

/** Decoded content of MariaDB's Secret. */
export interface Login {
  readonly rootPassword: string;
  readonly password: string;
  /** Password of account multinic_backup. */
  readonly backupPassword: string;
  readonly database: string;
  readonly user: string;
  /** HMAC key for the revision: a Pod's annotation reveals nothing about the passwords. */
  readonly salt: string;
}

const loginKeys = [
  'rootPassword',
  'password',
  'backupPassword',
  'database',
  'user',
  'salt',
] as const;

/** Secret keys rendered from the login: the server's init file, and the option files of clients and backups. */
export const renderedKeys = {
  initFile: 'init.sql',
  clientOptions: 'client.cnf',
  backupOptions: 'backup.cnf',
} as const;

/** Account that dumps and restores. */
export const backupAccount = 'multinic_backup';

/** Schemas that a restore uses beside the live one: the loaded copy, and the former tables after the exchange. */
export const restoreSchemas = {
  loaded: 'multinic_restore',
  former: 'multinic_before_restore',
} as const;

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
