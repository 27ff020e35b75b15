import { backupAccount, type Login } from '../../model/mariadb/login.ts';

/**
 * Option file for MariaDB clients. The database has no TLS, and clients since 11.4 refuse a server without TLS by
 * default.
 */
export function clientOptions({ user, password }: Pick<Login, 'user' | 'password'>): string {
  return `[client]\nuser=${quoted(user)}\npassword=${quoted(password)}\nskip-ssl\n`;
}

/** Option file for backups and restores. */
export function backupOptions({ backupPassword }: Login): string {
  return clientOptions({ user: backupAccount, password: backupPassword });
}

const escapes: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '"': '\\"',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

function quoted(text: string): string {
  return `"${text.replaceAll(/[\\"\n\r\t]/g, (one) => escapes[one] ?? one)}"`;
}
