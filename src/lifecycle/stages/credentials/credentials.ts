import { annotations, managedObjects } from '../../../api/names.ts';
import { type Secret, secrets, statefulSets } from '../../../kube/core-resources.ts';
import type { CredentialsWanted } from '../../model/accepted.ts';
import { desired, managedLabels } from '../../model/desired.ts';
import { type Login, loginOf, partialLogin, renderedKeys } from '../../model/mariadb/login.ts';
import { effectsOf } from '../../model/mariadb/operation-effects.ts';
import type { OperatorObject } from '../../model/multinicoperator.ts';
import { type Notice, type Observed, type StagePlan, unchanged } from '../../model/stage.ts';
import { database } from '../database/database.ts';
import { isManaged } from '../database/ownership.ts';
import { backupOptions, clientOptions } from './client-options.ts';
import { initFile } from './init-file.ts';
import { legacyPasswords } from './legacy-passwords.ts';
import { renamedDatabase } from './renamed-database.ts';

/** Plans Secret mariadb-credentials: from the spec, taken over, generated or rotated. */
export function credentials(observed: Observed, newPassword: () => string): StagePlan<undefined> {
  const { value: wanted, problems } = observed.accepted.credentials;
  if (problems) return unchanged(problems, undefined);
  if (!wanted) return unchanged([], undefined);
  const notices = noticesOf(wanted, requestOf(observed));
  const secret = observed.objects.find(secrets, managedObjects.credentials);
  const renamed = renamedDatabase(observed);
  if (renamed) return { ...unchanged([renamed], undefined), notices };
  const { keepsSecret, rotation } = effectsOf(observed);
  if ((keepsSecret && loginOf(secret)) || !canServerFollow(observed)) {
    return { ...unchanged([], undefined), notices };
  }
  const handled = secret ? (rotation ?? handledRequest(secret)) : requestOf(observed);
  const login = loginFor(wanted, observed, { secret, handled }, newPassword);
  return {
    apply: [desired(secrets, secretOf(observed, login, handled))],
    remove: [],
    problems: [],
    notices,
    report: undefined,
  };
}

/**
 * True if the database stage can change the StatefulSet. While blocked, for example by an unusable field, the stage
 * applies nothing and MariaDB keeps its passwords: a new Secret would reach probes and operator, and lock both out.
 */
function canServerFollow(observed: Observed): boolean {
  const live = observed.objects.find(statefulSets, managedObjects.database);
  const isServing = live !== undefined && isManaged(live);
  return !isServing || database(observed).apply.length > 0;
}

/** A rotation discards generated passwords; without a Secret nothing is rotated. */
function loginFor(
  wanted: CredentialsWanted,
  observed: Observed,
  {
    secret,
    handled,
  }: { readonly secret: Secret | undefined; readonly handled: string | undefined },
  newPassword: () => string,
): Login {
  const legacy = legacyPasswords(observed.objects.find(statefulSets, managedObjects.database));
  const { salt, ...stored } = partialLogin(secret);
  const rotates = secret !== undefined && handled !== handledRequest(secret);
  const kept = rotates ? {} : { ...legacy, ...stored };
  return {
    database: wanted.database,
    user: wanted.user,
    rootPassword: wanted.rootPassword ?? kept.rootPassword ?? newPassword(),
    password: wanted.password ?? kept.password ?? newPassword(),
    salt: salt ?? newPassword(),
    backupPassword: kept.backupPassword ?? newPassword(),
  };
}

/**
 * True if the stage may replace passwords in a Secret. A lagging watch shows the Secret before the last replacement:
 * read the Secret first, otherwise each round replaces the passwords again.
 */
export function replacesPasswords(operator: OperatorObject, secret: Secret): boolean {
  const request = requestOf({ operator });
  const rotates = request !== undefined && request !== handledRequest(secret);
  return rotates || loginOf(secret) === undefined;
}

function secretOf({ operator, namespace }: Observed, login: Login, handled: string | undefined) {
  const all = {
    ...login,
    [renderedKeys.initFile]: initFile(login),
    [renderedKeys.clientOptions]: clientOptions(login),
    [renderedKeys.backupOptions]: backupOptions(login),
  };
  const encoded = Object.entries(all).map(([key, text]) => [
    key,
    Buffer.from(text, 'utf8').toString('base64'),
  ]);
  return {
    metadata: {
      name: managedObjects.credentials,
      namespace,
      labels: managedLabels(operator),
      ...(handled === undefined
        ? {}
        : { annotations: { [annotations.rotateCredentials]: handled } }),
    },
    type: 'Opaque',
    data: Object.fromEntries(encoded) as Record<string, string>,
  };
}

function requestOf({ operator }: Pick<Observed, 'operator'>): string | undefined {
  return operator.metadata.annotations?.[annotations.rotateCredentials];
}

function handledRequest({ metadata }: Secret): string | undefined {
  return metadata.annotations?.[annotations.rotateCredentials];
}

function noticesOf(wanted: CredentialsWanted, request: string | undefined): readonly Notice[] {
  const fields = (['rootPassword', 'password'] as const)
    .filter((key) => wanted[key] !== undefined)
    .map((key) => `spec.database.credentials.${key}`);
  if (fields.length === 0) return [];
  const names = fields.join(' and ');
  const [holds, are] = fields.length === 1 ? ['holds a password', 'is'] : ['hold passwords', 'are'];
  const rotation =
    request === undefined
      ? ''
      : `; ${annotations.rotateCredentials} does not replace passwords of the spec`;
  return [
    {
      condition: 'SecretInSpec',
      reason: 'PasswordInSpec',
      message: `${names} ${holds} that every reader of this object can see, and ${are} copied to Secret ${managedObjects.credentials}; remove ${fields.length === 1 ? 'it' : 'them'} from the spec; the Secret stays unchanged${rotation}`,
    },
  ];
}
