import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createConnection } from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MariadbAccess } from '../../../src/store/mariadb-access.ts';
import { Store } from '../../../src/store/store.ts';
import { good, otherCa, violaCa } from '../../fixtures/certificates.ts';
import { scaled } from '../../speed.ts';
import { type Mariadb, startMariadb } from './mariadb-server.ts';

let folder: string;
let server: Mariadb;
let plain: Mariadb;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'multinic-mariadb-tls-'));
  const [cert, key] = [join(folder, 'tls.crt'), join(folder, 'tls.key')];
  await writeFile(cert, good.cert);
  await writeFile(key, good.key);
  // Later MariaDB versions create a certificate themselves.
  [server, plain] = await Promise.all([
    startMariadb([`--ssl-cert=${cert}`, `--ssl-key=${key}`]),
    startMariadb(['--skip-ssl']),
  ]);
  const { database, ...login } = server.access;
  const connection = await createConnection(login);
  for (const statement of [
    `create database ${database}`,
    "install soname 'auth_ed25519'",
    "create user e@'127.0.0.1' identified via ed25519 using password('pw')",
    "create user s@'127.0.0.1' identified by 'pw' require ssl",
    `grant all on ${database}.* to s@'127.0.0.1'`,
    'set global require_secure_transport = 1',
  ]) {
    await connection.query(statement);
  }
  await connection.end();
}, scaled(120_000));

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await plain[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function listed(access: Partial<MariadbAccess>, at = server): Promise<unknown> {
  const location = { kind: 'mariadb', ...at.access, ...access } as const;
  await using store = await Store.open(location, { now: () => new Date() });
  return await store.list();
}

const ca = violaCa;
const ssl = { user: 's', password: 'pw' };

describe('MariaDB with required TLS', () => {
  it.each([
    ['its CA', { tls: { ca } }],
    ['its CA among foreign CAs', { tls: { ca: otherCa + ca } }],
    ['a user who must use TLS', { ...ssl, tls: { ca } }],
  ])('MariaDB with required TLS accepts %s', async (_, access) => {
    expect(await listed(access)).toEqual([]);
  });

  it.each([
    ['without TLS', {}, /require_secure_transport.*set DB_CA_FILE, or DB_TLS=true/],
    ['without TLS as a user who must use it', ssl, /REQUIRE SSL.*set DB_CA_FILE, or DB_TLS=true/],
    ['with another authority', { tls: { ca: otherCa } }, /cannot be verified.*DB_CA_FILE/],
    ['with the authorities of the system', { tls: { ca: undefined } }, /cannot be verified/],
    ['by another name', { host: 'localhost', tls: { ca } }, /cannot be verified.*localhost/],
    [
      'as a user of ed25519',
      { user: 'e', password: 'pw', tls: { ca } },
      /client_ed25519.*user "e".*IDENTIFIED VIA mysql_native_password/,
    ],
    ['with a wrong password', { password: 'secret-word', tls: { ca } }, /^Access denied[^;]*$/],
  ])('the connection fails and the error names the cause: %s', async (_, access, message) => {
    const { message: text } = (await listed(access).catch((error: unknown) => error)) as Error;
    expect(text).toMatch(message);
    expect(text).not.toContain('secret-word');
  });
});

it('MariaDB without TLS is not used when TLS is set', async () => {
  await expect(listed({ tls: { ca } }, plain)).rejects.toThrow(/offers no TLS.*DB_TLS/);
});
