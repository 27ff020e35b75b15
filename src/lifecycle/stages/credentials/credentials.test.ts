import { describe, expect, it } from 'vitest';
import type { Secret } from '../../../kube/core-resources.ts';
import { credentialsRevision } from '../../model/mariadb/credentials-revision.ts';
import { loginOf } from '../../model/mariadb/login.ts';
import {
  type DatabaseInput,
  observedDatabase,
  secretWith,
  statefulSet,
  withOperation,
  withSecret,
} from '../../testing/database-scene.ts';
import { backupOptions, clientOptions } from './client-options.ts';
import { credentials } from './credentials.ts';
import { initFile, nativeHash } from './init-file.ts';

function planOf(scene: DatabaseInput) {
  let count = 0;
  const plan = credentials(observedDatabase(scene), () => `new-${++count}`);
  const secret = plan.apply[0]?.object as unknown as Secret;
  return { plan, secret, login: loginOf(secret) };
}

/** Claim in step `write` of a rotation. */
const writing = (request: string) =>
  withOperation({
    operation: {
      kind: 'rotation',
      request,
      step: 'write',
      startedAt: '2026-11-26T10:00:00Z',
      deadline: '2026-11-26T10:30:00Z',
    },
  });
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
  it('a changed name of the database is refused while the Secret has the former name, unless the Secret was edited', () => {
    const database = { credentials: { database: 'other' } };
    const { plan } = planOf({ database, live: [withSecret()] });
    expect(plan.apply).toEqual([]);
    expect(plan.problems).toMatchObject([{ field: 'spec.database.credentials.database' }]);
    expect(plan.problems[0]?.message).toContain('set it to "multinic"');
    expect(planOf({ database }).login).toMatchObject({ database: 'other' });
    const secret = secretWith();
    const data = { ...secret.data, database: Buffer.from('edited').toString('base64') };
    const edited = planOf({ live: [withSecret({ ...secret, data })] });
    expect(edited.login).toMatchObject({ database: 'multinic' });
  });

  it.each<readonly [string, DatabaseInput, string, string]>([
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
      { annotations: rotate('b'), live: [rotated('a'), writing('b')] },
      'new-1',
      'new-2',
    ],
    [
      'wait for the operation',
      { annotations: rotate('b'), live: [rotated('a')] },
      'root-1',
      'user-1',
    ],
    ['are replaced once', { annotations: rotate('a'), live: [rotated('a')] }, 'root-1', 'user-1'],
    [
      'are replaced by a request after a take-over',
      { annotations: rotate('a'), live: [legacy, withSecret(), writing('a')] },
      'new-1',
      'new-2',
    ],
    [
      'from the spec are not replaced',
      { database: spec, annotations: rotate('b'), live: [rotated('a'), writing('b')] },
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

  it.each<readonly [string, DatabaseInput]>([
    ['by a new request', { annotations: rotate('b'), live: [rotated('a')] }],
    ['by the spec', { database: spec, live: [withSecret()] }],
    ['after the Secret was deleted', {}],
  ])(
    'the Secret is not replaced %s while an unusable field blocks MariaDB',
    (_what, { database = {}, live = [], ...rest }) => {
      const scene = { database, ...rest, live: [...live, statefulSet()] };
      const unusable = { ...scene, database: { ...database, storageSize: 'lots' } };
      expect(planOf(unusable).plan.apply).toEqual([]);
      expect(planOf(scene).plan.apply).toHaveLength(1);
    },
  );

  it('credentialsRevision changes with each value and the salt, and is undefined for a missing key', () => {
    const secrets = [
      ['a', 'b', 's'],
      ['a', 'c', 's'],
      ['c', 'b', 's'],
      ['a', 'b', 't'],
      ['a', 'b', 's', 'x'],
    ];
    const all = secrets.map((values) => credentialsRevision(secretWith(values)));
    expect(new Set(all).size).toBe(5);
    expect(all[0]).toMatch(/^[0-9a-f]{16}$/);
    expect(credentialsRevision(secretWith(['a', 'b', 's']))).toBe(all[0]);
    expect(credentialsRevision({ ...secretWith(), data: {} })).toBeUndefined();
    expect(credentialsRevision(undefined)).toBeUndefined();
  });
});

describe('a Secret of an earlier release', () => {
  const { data: { backupPassword: _, ...data } = {}, ...rest } = secretWith();
  const earlier = { ...rest, data };

  it('the Secret gets a backup password and keeps the present passwords', () => {
    const { login } = planOf({ live: [withSecret(earlier)] });
    expect(login).toMatchObject({ password: 'user-1', salt: 'salt-1', backupPassword: 'new-1' });
  });

  it('the revision changes only with the backup password, hence MariaDB restarts once', () => {
    expect(credentialsRevision(earlier)).toMatch(/^[0-9a-f]{16}$/);
    expect(credentialsRevision(earlier)).not.toBe(credentialsRevision(secretWith()));
  });
});

describe('rendered keys', () => {
  const login = {
    rootPassword: 'r',
    password: `'"\\\n`,
    backupPassword: 'b',
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

  it('the init file creates the account for backups, with rights on three schemas only', () => {
    const lines = initFile(login).split('\n');
    const grants = lines.filter((line) => /^GRANT.*'multinic_backup'/.test(line));
    expect(grants.map((line) => /ON (\S+) TO/.exec(line)?.[1] ?? '')).toEqual([
      '`a\\_b`.*',
      '`multinic\\_restore`.*',
      '`multinic\\_before\\_restore`.*',
      '*.*',
      'mysql.proc',
      'mysql.user',
    ]);
    expect(backupOptions(login)).toBe('[client]\nuser="multinic_backup"\npassword="b"\nskip-ssl\n');
  });

  it('the option file quotes every byte that ends a value', () => {
    expect(clientOptions(login)).toBe('[client]\nuser="me"\npassword="\'\\"\\\\\\n"\nskip-ssl\n');
  });
});
