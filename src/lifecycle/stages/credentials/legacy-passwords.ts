import { managedObjects } from '../../../api/names.ts';
import type { StatefulSet } from '../../../kube/core-resources.ts';
import type { Login } from '../../model/mariadb/login.ts';
import { isLegacy } from '../database/ownership.ts';

const variables = { rootPassword: 'MYSQL_ROOT_PASSWORD', password: 'MYSQL_PASSWORD' } as const;

/** Returns the passwords in the legacy StatefulSet's environment, with which its data was created. */
export function legacyPasswords(
  found: StatefulSet | undefined,
): Partial<Pick<Login, 'rootPassword' | 'password'>> {
  if (!found || !isLegacy(found)) return {};
  const containers = found.spec?.template.spec?.containers ?? [];
  const env = containers.find(({ name }) => name === managedObjects.database)?.env ?? [];
  const values = Object.entries(variables).flatMap(([key, variable]) => {
    const value = env.find(({ name }) => name === variable)?.value;
    return value ? [[key, value] as const] : [];
  });
  return Object.fromEntries(values);
}
