import type { MultiNicOperatorSpec } from '../../../api/multinicoperator.ts';
import type { Checked, CredentialsWanted, Problem } from '../../model/accepted.ts';
import { backupAccount, restoreSchemas } from '../../model/mariadb/login.ts';
import { checked, unusable, unusableSecret } from './checked.ts';

type Credentials = NonNullable<NonNullable<MultiNicOperatorSpec['database']>['credentials']>;

/** Schemas and accounts that MariaDB, backups and restores use. */
const systemSchemas = ['information_schema', 'mysql', 'performance_schema', 'sys'];
const systemUsers = ['root', 'mysql', 'mariadb.sys', 'public'];
const ownNames: readonly string[] = [backupAccount, ...Object.values(restoreSchemas)];
const longestPassword = 512;

/** Checks names and passwords for the built-in database. */
export function acceptCredentials(
  { database = 'multinic', user = 'multinic', rootPassword, password }: Credentials,
  field: string,
): Checked<CredentialsWanted> {
  const problems = [
    ...nameProblems(`${field}.database`, database, 64, systemSchemas),
    ...nameProblems(`${field}.user`, user, 80, systemUsers),
    ...passwordProblems(`${field}.rootPassword`, rootPassword),
    ...passwordProblems(`${field}.password`, password),
  ];
  const passwords = {
    ...(rootPassword === undefined ? {} : { rootPassword }),
    ...(password === undefined ? {} : { password }),
  };
  return checked({ database, user, ...passwords }, problems);
}

function nameProblems(
  field: string,
  name: string,
  longest: number,
  reserved: readonly string[],
): Problem[] {
  if (reserved.includes(name.toLowerCase())) {
    return [unusable(field, name, 'belongs to MariaDB; choose another name')];
  }
  if (ownNames.includes(name.toLowerCase())) {
    return [unusable(field, name, 'is used by backups and restores; choose another name')];
  }
  if (/^[A-Za-z0-9_$-]+$/.test(name) && name.length <= longest) return [];
  const legal = `write 1 to ${longest} characters of A-Z, a-z, 0-9, _, $ and -`;
  return [unusable(field, name, `cannot be used; ${legal}`)];
}

function passwordProblems(field: string, password: string | undefined): Problem[] {
  if (password === undefined) return [];
  const bytes = Buffer.byteLength(password);
  if (bytes === 0) {
    return [
      unusableSecret(field, 'is empty; set a password, or leave it out to have one generated'),
    ];
  }
  if (bytes > longestPassword) {
    return [unusableSecret(field, `has ${bytes} bytes; use at most ${longestPassword}`)];
  }
  // Environment variables cannot hold NUL, and UTF-8 JSON cannot hold half a surrogate pair.
  if (password.includes('\0') || !password.isWellFormed()) {
    return [unusableSecret(field, 'has a NUL or invalid Unicode character; remove it')];
  }
  return [];
}
