import { createHash } from 'node:crypto';
import type { Login } from './login.ts';

/**
 * Returns the statements mariadbd runs at every start. Passwords are hashes: no byte needs quoting or depends on a
 * character set. `root` connects by socket only; a root for any host, created by the official image, gets the same
 * password.
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

/** Returns the mysql_native_password hash: `*` and SHA1(SHA1(password)). */
export function nativeHash(password: string): string {
  const first = createHash('sha1').update(password, 'utf8').digest();
  return `*${createHash('sha1').update(first).digest('hex').toUpperCase()}`;
}

function identifier(name: string): string {
  return `\`${oneLine(name).replaceAll('`', '``')}\``;
}

/** GRANT treats a database name as a pattern. */
function schemaPattern(name: string): string {
  return identifier(name.replaceAll(/[\\_%]/g, '\\$&'));
}

function literal(text: string): string {
  return `'${oneLine(text).replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}

/** The server ends an init file statement at a line ending with a semicolon. */
function oneLine(name: string): string {
  return name.replaceAll(/[\0\r\n]/g, '');
}
