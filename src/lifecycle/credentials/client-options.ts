import type { Login } from './login.ts';

/** Option file of MariaDB's clients. The database has no TLS, and clients of 11.4 and later refuse a server without. */
export function clientOptions({ user, password }: Login): string {
  return `[client]\nuser=${quoted(user)}\npassword=${quoted(password)}\nskip-ssl\n`;
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
