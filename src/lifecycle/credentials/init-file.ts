import { createHash } from 'node:crypto';
import type { Login } from './login.ts';

/**
 * Statements that mariadbd runs at every start. Passwords are hashes, so that no byte of them needs quoting or depends on a
 * character set. `root` connects by the socket only; a root of any host, which the official image creates, gets the same password.
 */
export function initFile({ database, user, password, rootPassword }: Login): string {
  const schema = identifier(database);
  const account = `${literal(user)}@'%'`;
  const root = "'root'@'localhost'";
  const rootHash = nativeHash(rootPassword);
  const statements = [
    'SET NAMES utf8mb4',
    `CREATE DATABASE IF NOT EXISTS ${schema}`,
    `CREATE USER IF NOT EXISTS ${root} IDENTIFIED BY PASSWORD '${rootHash}'`,
    `ALTER USER ${root} IDENTIFIED BY PASSWORD '${rootHash}'`,
    `GRANT ALL PRIVILEGES ON *.* TO ${root} WITH GRANT OPTION`,
    `ALTER USER IF EXISTS 'root'@'%' IDENTIFIED BY PASSWORD '${rootHash}'`,
    `CREATE USER IF NOT EXISTS ${account} IDENTIFIED BY PASSWORD '${nativeHash(password)}'`,
    `ALTER USER ${account} IDENTIFIED BY PASSWORD '${nativeHash(password)}'`,
    `GRANT ALL PRIVILEGES ON ${schemaPattern(database)}.* TO ${account}`,
  ];
  return statements.map((statement) => `${statement};\n`).join('');
}

/** Hash of mysql_native_password: `*` and SHA1(SHA1(password)). */
export function nativeHash(password: string): string {
  const first = createHash('sha1').update(password, 'utf8').digest();
  return `*${createHash('sha1').update(first).digest('hex').toUpperCase()}`;
}

function identifier(name: string): string {
  return `\`${oneLine(name).replaceAll('`', '``')}\``;
}

/** GRANT takes the name of a database for a pattern. */
function schemaPattern(name: string): string {
  return identifier(name.replaceAll(/[\\_%]/g, '\\$&'));
}

function literal(text: string): string {
  return `'${oneLine(text).replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}

/** The server ends a statement of its init file at a line that ends with a semicolon. */
function oneLine(name: string): string {
  return name.replaceAll(/[\0\r\n]/g, '');
}
