import { createHash } from 'node:crypto';
import { backupAccount, type Login, restoreSchemas } from '../../model/mariadb/login.ts';

/**
 * Returns the statements mariadbd runs at every start. Passwords are hashes: no byte needs quoting or depends on a
 * character set. `root` connects by socket only; a root for any host, created by the official image, gets the same
 * password.
 */
export function initFile(login: Login): string {
  const { database, user, password, rootPassword } = login;
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
    ...backupStatements(login),
  ];
  return statements.map((statement) => `${statement};\n`).join('');
}

/**
 * Returns statements for the backup account. The account reads routine bodies (mysql.proc) and account names, and
 * creates programs with another account as DEFINER (SET USER; servers before 10.5.2 skip the comment). PROCESS shows
 * foreign keys from other schemas. A failing statement stops the server: every series must accept these statements.
 */
function backupStatements({ database, backupPassword }: Login): readonly string[] {
  const account = `${literal(backupAccount)}@'%'`;
  const hash = nativeHash(backupPassword);
  const schemas = [database, restoreSchemas.loaded, restoreSchemas.former];
  return [
    `CREATE USER IF NOT EXISTS ${account} IDENTIFIED BY PASSWORD '${hash}'`,
    `ALTER USER ${account} IDENTIFIED BY PASSWORD '${hash}'`,
    ...schemas.map((name) => `GRANT ALL PRIVILEGES ON ${schemaPattern(name)}.* TO ${account}`),
    `GRANT PROCESS /*M!100502 , SET USER */ ON *.* TO ${account}`,
    `GRANT SELECT ON mysql.proc TO ${account}`,
    `GRANT SELECT (User, Host) ON mysql.user TO ${account}`,
  ];
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
