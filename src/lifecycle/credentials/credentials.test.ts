import { describe, expect, it } from 'vitest';
import { claims, type Secret } from '../../kube/core-resources.ts';
import {
  named,
  observedDatabase,
  type Scene,
  secretWith,
  statefulSet,
  withSecret,
} from '../testing/database-scene.ts';
import { clientOptions } from './client-options.ts';
import { credentials } from './credentials.ts';
import { initFile, nativeHash } from './init-file.ts';
import { loginOf } from './login.ts';
import { credentialsRevision } from './revision.ts';

function planOf(scene: Scene) {
  let count = 0;
  const plan = credentials(observedDatabase(scene), () => `new-${++count}`);
  const secret = plan.apply[0]?.object as unknown as Secret;
  return { plan, secret, login: loginOf(secret) };
}

const rotate = (value: string) => ({ 'multinic.io/rotate-credentials': value });
const rotated = (value: string) => {
  const secret = secretWith();
  return withSecret({ ...secret, metadata: { ...secret.metadata, annotations: rotate(value) } });
};
const legacy = statefulSet({ isLegacy: true }, [
  { name: 'MYSQL_ROOT_PASSWORD', value: 'old-root' },
  { name: 'MYSQL_PASSWORD', value: 'old-user' },
]);
const foreign = statefulSet({ isLegacy: true, isManaged: false }, [
  { name: 'MYSQL_PASSWORD', value: 'foreign' },
]);
const spec = { credentials: { password: 'spec-user' } };

describe('Secret mariadb-credentials', () => {
  it.each<readonly [string, Scene, string, string]>([
    ['are generated', {}, 'new-1', 'new-2'],
    ['come from the Secret', { live: [withSecret()] }, 'root-1', 'user-1'],
    ['come from the spec first', { database: spec, live: [withSecret()] }, 'root-1', 'spec-user'],
    ['are taken over from the legacy StatefulSet', { live: [legacy] }, 'old-root', 'old-user'],
    [
      'come from the Secret before the legacy StatefulSet',
      { live: [legacy, withSecret()] },
      'root-1',
      'user-1',
    ],
    ['are not taken from a foreign StatefulSet', { live: [foreign] }, 'new-1', 'new-2'],
    [
      'are replaced by a new request',
      { annotations: rotate('b'), live: [rotated('a')] },
      'new-1',
      'new-2',
    ],
    ['are replaced once', { annotations: rotate('a'), live: [rotated('a')] }, 'root-1', 'user-1'],
    [
      'are replaced by a request after a take-over',
      { annotations: rotate('a'), live: [legacy, withSecret()] },
      'new-1',
      'new-2',
    ],
    [
      'from the spec are not replaced',
      { database: spec, annotations: rotate('b'), live: [rotated('a')] },
      'new-1',
      'spec-user',
    ],
  ])('passwords %s', (_what, scene, rootPassword, password) => {
    expect(planOf(scene).login).toMatchObject({ rootPassword, password });
  });

  it('the Secret has no owner and stores the rotation request', () => {
    const { secret } = planOf({ annotations: rotate('now') });
    expect(secret.metadata.ownerReferences).toBeUndefined();
    expect(secret.metadata.annotations).toEqual(rotate('now'));
    expect(planOf({ live: [rotated('a')] }).secret.metadata.annotations).toEqual(rotate('a'));
  });

  it('a password in the spec causes a notice with the limits of a rotation', () => {
    const { plan } = planOf({ database: spec, annotations: rotate('b') });
    expect(plan.notices).toMatchObject([{ condition: 'SecretInSpec', reason: 'PasswordInSpec' }]);
    expect(plan.notices[0]?.message).toMatch(
      /^spec\.database\.credentials\.password holds.*rotate-credentials does not replace/,
    );
    expect(planOf({}).plan.notices).toEqual([]);
  });

  it('the Secret stays unchanged when the database is disabled or a name is unusable', () => {
    expect(planOf({ database: { enabled: false } }).plan.apply).toEqual([]);
    const { plan } = planOf({ database: { credentials: { user: 'root' } } });
    expect(plan.apply).toEqual([]);
    expect(plan.problems).toMatchObject([{ field: 'spec.database.credentials.user' }]);
  });

  it.each<readonly [string, Scene]>([
    ['by a new request', { annotations: rotate('b'), live: [rotated('a')] }],
    ['by the spec', { database: spec, live: [withSecret()] }],
    ['after the Secret was deleted', {}],
  ])(
    'the Secret is not replaced %s while a shrinking volume size blocks MariaDB',
    (_what, { database = {}, live = [], ...rest }) => {
      const claim = named(claims, 'mysql-storage-mariadb-0', {
        spec: { resources: { requests: { storage: '20Gi' } } },
      });
      const scene = { database, ...rest, live: [...live, statefulSet(), claim] };
      expect(planOf(scene).plan.apply).toEqual([]);
      const larger = { ...scene, database: { ...database, storageSize: '20Gi' } };
      expect(planOf(larger).plan.apply).toHaveLength(1);
    },
  );

  it('credentialsRevision changes with each value and the salt, and is undefined for a missing key', () => {
    const secrets = [
      ['a', 'b', 's'],
      ['a', 'c', 's'],
      ['c', 'b', 's'],
      ['a', 'b', 't'],
    ];
    const all = secrets.map((values) => credentialsRevision(secretWith(values)));
    expect(new Set(all).size).toBe(4);
    expect(all[0]).toMatch(/^[0-9a-f]{16}$/);
    expect(credentialsRevision(secretWith(['a', 'b', 's']))).toBe(all[0]);
    expect(credentialsRevision({ ...secretWith(), data: {} })).toBeUndefined();
    expect(credentialsRevision(undefined)).toBeUndefined();
  });
});

describe('rendered keys', () => {
  const login = {
    rootPassword: 'r',
    password: `'"\\\n`,
    database: 'a_b',
    user: 'me',
    salt: 's',
  };

  it('the init file has hashes instead of passwords, one statement per line', () => {
    expect(nativeHash('password')).toBe('*2470C0C06DEE42FD1618BB99005ADCA2EC9D1E19');
    const lines = initFile(login).trimEnd().split('\n');
    expect(lines.filter((line) => !line.endsWith(';'))).toEqual([]);
    expect(lines.join('')).not.toContain(login.password);
    expect(lines).toContain(
      `ALTER USER 'me'@'%' IDENTIFIED BY PASSWORD '${nativeHash(login.password)}';`,
    );
    expect(lines).toContain("GRANT ALL PRIVILEGES ON `a\\_b`.* TO 'me'@'%';");
  });

  it('the option file quotes every byte that ends a value', () => {
    expect(clientOptions(login)).toBe('[client]\nuser="me"\npassword="\'\\"\\\\\\n"\nskip-ssl\n');
  });
});
