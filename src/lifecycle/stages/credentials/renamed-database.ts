import { managedObjects } from '../../../api/names.ts';
import { type Secret, secrets } from '../../../kube/core-resources.ts';
import type { Problem } from '../../model/accepted.ts';
import { type Login, loginOf, renderedKeys } from '../../model/mariadb/login.ts';
import type { Observed } from '../../model/stage.ts';
import { initFile } from './init-file.ts';

/**
 * Returns why the database name in the spec is refused: with another name MariaDB would serve an empty schema, and its
 * dumps would push out the dumps of the former schema. Undefined: accepted.
 */
export function renamedDatabase({ accepted, objects }: Observed): Problem | undefined {
  const name = accepted.credentials.value?.database;
  const secret = objects.find(secrets, managedObjects.credentials);
  const login = loginOf(secret);
  // An edited name in the Secret is replaced instead.
  if (name === undefined || !login || login.database === name || !hasInitFile(secret, login)) {
    return undefined;
  }
  const { database: present } = login;
  const field = 'spec.database.credentials.database';
  const emptyWay = `to start with an empty database "${name}", copy the files of claim ${managedObjects.backup} away first, then delete Secret ${managedObjects.credentials}`;
  return {
    field,
    message: `${field} "${name}" is not the present name "${present}", and MariaDB would start without the data; set it to "${present}"; ${emptyWay}`,
  };
}

function hasInitFile(secret: Secret | undefined, login: Login): boolean {
  const stored = secret?.data?.[renderedKeys.initFile];
  return stored === Buffer.from(initFile(login), 'utf8').toString('base64');
}
