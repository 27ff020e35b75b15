import type { ChildProcess } from 'node:child_process';
import { execFileSync } from 'node:child_process';
import { chownSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { rootOf } from '../../../rig/mariadb-image/root.ts';
import { backupScript } from '../../../src/lifecycle/backup/script.ts';
import type { Login } from '../../../src/lifecycle/credentials/login.ts';
import { prepareData } from '../../../src/lifecycle/database/prepare-data.ts';
import { query, server } from '../../../src/lifecycle/database/stateful-set.ts';
import { type Ended, type MariadbPod, mariadbPod, stopped } from './mariadb-pod.ts';

const login: Login = {
  rootPassword: 'root-1',
  password: 'user-1',
  database: 'multinic',
  user: 'multinic',
  salt: 'salt',
};
const prepare = ['sh', '-c', prepareData];
const rows = 1000;

let root: string;
let pod: MariadbPod;
let serving: ChildProcess;

function refused({ status, message }: Ended, expected: number, reason: RegExp) {
  expect(message).toMatch(reason);
  expect(status).toBe(expected);
}

const newPod = () => mariadbPod(mkdtempSync(join(tmpdir(), 'multinic-mariadb-')));

beforeAll(async () => {
  root = await rootOf('10.11');
  pod = await newPod();
  await pod.login(login);
  const installed = await pod.run(root, prepare);
  expect(installed).toMatchObject({ status: 0, message: '{"version": "10.11.19"}' });
  serving = await pod.serve(root, server);
  await pod.sql(
    root,
    login,
    `CREATE TABLE nic (id INT PRIMARY KEY, note TEXT);
     INSERT INTO nic SELECT seq, CONCAT('it''s \\\\ line\\n', seq) FROM seq_1_to_${rows};
     CREATE TABLE history (id INT AUTO_INCREMENT PRIMARY KEY, nic INT, FOREIGN KEY (nic) REFERENCES nic (id));
     INSERT INTO history (nic) SELECT seq FROM seq_1_to_10; CREATE TABLE empty (id INT)`,
  );
});

afterAll(async () => {
  await pod[Symbol.asyncDispose]();
});

const backupEnvironment = {
  TASK: 'backup',
  HOST: '127.0.0.1',
  PORT: '3306',
  DATABASE: login.database,
  RETENTION: '3',
  SUFFIX: '',
  FILE: '',
};
const work = (env: Readonly<Record<string, string>>, options: object = {}) =>
  pod.run(root, ['sh', '-c', backupScript], { env: { ...backupEnvironment, ...env }, ...options });
const restore = (file: string) => work({ TASK: 'restore', FILE: file });
const files = () =>
  readdirSync(join(pod.folder, 'backup'))
    .filter((name) => !name.startsWith('.'))
    .toSorted();
const count = (table: string) => pod.sql(root, login, `SELECT COUNT(*) FROM ${table}`);

function put(name: string, text: string) {
  const path = join(pod.folder, 'backup', name);
  writeFileSync(path, text);
  chownSync(path, 999, 999);
}

it('prepare-data refuses foreign files and data of MySQL 8, and installs again after an interruption', async () => {
  await using other = await newPod();
  const data = join(other.folder, 'var/lib/mysql');
  writeFileSync(join(data, 'photo.jpg'), '');
  const foreign = await other.run(root, prepare);
  refused(foreign, 4, /photo\.jpg/);
  expect(readdirSync(data)).toEqual(['photo.jpg']);

  writeFileSync(join(data, '.multinic-install'), '');
  execFileSync('chown', ['-R', '999:999', data]);
  expect(await other.run(root, prepare)).toMatchObject({ status: 0 });
  expect(readdirSync(data)).toContain('mysql_upgrade_info');
  expect(readdirSync(data)).not.toContain('photo.jpg');

  writeFileSync(join(data, 'mysql.ibd'), '');
  const mysql = await other.run(root, prepare);
  refused(mysql, 4, /MySQL 8/);
  rmSync(join(data, 'mysql.ibd'));

  writeFileSync(join(data, 'mysql_upgrade_info'), '11.8.9-MariaDB');
  const newer = await other.run(root, prepare);
  refused(newer, 3, /11\.8\.9/);
});

it('prepare-data names the programs that an image lacks', async () => {
  const command = ['env', 'PATH=/usr/sbin', '/bin/sh', '-c', prepareData];
  refused(
    await pod.run(root, command),
    7,
    /^the image has no mariadb mariadb-dump .*official mariadb image$/,
  );
});

it('the init file sets passwords of all kinds at each start, and accounts without a password do not exist', async () => {
  const accounts = await pod.sql(root, login, 'SELECT user, host FROM mysql.user ORDER BY 1, 2');
  expect(accounts.split('\n')).toEqual([
    'mariadb.sys\tlocalhost',
    'multinic\t%',
    'root\tlocalhost',
  ]);
  const passwords = [
    `'"\\; DROP`,
    'line\nbreak\t#; = end ',
    ' 한국어 비밀번호 `$(id)` ${HOME} ',
    'x'.repeat(200),
    'user-1',
  ];
  for (const password of passwords) {
    await stopped(serving, password.includes('한') ? 'SIGKILL' : 'SIGTERM');
    await pod.login({ ...login, password });
    serving = await pod.serve(root, server);
    expect(await pod.run(root, query), password).toMatchObject({ status: 0 });
  }
  await pod.login({ ...login, password: 'wrong' });
  expect(await pod.run(root, query)).toMatchObject({ status: 1 });
  await pod.login(login);
  const ping = await pod.run(root, ['mysqladmin', 'ping']);
  expect(ping.status).toBe(0);
  expect(await count('nic')).toBe(String(rows));
});

it('a backup is verified, replaces no file and removes the oldest beyond the retention', async () => {
  put('multinic-20200101T000000Z.sql.part', 'left behind');
  const old = ['01', '02', '03'].map((day) => `multinic-202001${day}T000000Z.sql`);
  for (const name of old) put(name, '');
  put('mine.sql', '');
  const { status, message, log } = await work({});
  expect(status, log).toBe(0);
  const result = JSON.parse(message) as { file: string; bytes: number; at: string };
  expect(result).toMatchObject({ verified: true, rows: rows + 10 });
  expect(files()).toEqual(['mine.sql', ...old.slice(1), result.file]);
  const text = readFileSync(join(pod.folder, 'backup', result.file), 'utf8');
  expect(Buffer.byteLength(text)).toBe(result.bytes);
  expect(log).not.toContain(login.password);
});

it('a backup that fails leaves no part and no other file changed', async () => {
  const before = files();
  const full = await work({}, { backupSize: '64k' });
  refused(full, 1, /volume is full/);
  const left = readFileSync(join(pod.folder, 'backup-volume'), 'utf8');
  expect(left).not.toContain('.part');
  for (const name of before) expect(left).toContain(name);

  const away = await work({ PORT: '3307' });
  refused(away, 1, /^the dump failed: /);
  const cut = backupScript.replace('"$DATABASE" >"$part"', '"$DATABASE" | head -n 60 >"$part"');
  expect(cut).not.toBe(backupScript);
  const short = await pod.run(root, ['sh', '-c', cut], { env: backupEnvironment });
  refused(short, 1, /^the dump is truncated/);
  expect(files()).toEqual(before);
});

it('a restore brings the tables of the file back, after a dump of the present ones', async () => {
  const before = files();
  const latest = before.findLast((name) => name.startsWith('multinic-')) ?? '';
  await pod.sql(
    root,
    login,
    'DELETE FROM history; DELETE FROM nic WHERE id > 5; CREATE TABLE later (id INT)',
  );
  const { status, message, log } = await restore('latest');
  expect(status, log).toBe(0);
  expect(JSON.parse(message)).toMatchObject({ file: latest, verified: true, rows: rows + 10 });
  expect(await pod.sql(root, login, 'SHOW TABLES')).toBe('empty\nhistory\nnic');
  const note = await pod.sql(root, login, 'SELECT HEX(note) FROM nic WHERE id = 7');
  expect(Buffer.from(note, 'hex').toString()).toBe("it's \\ line\n7");
  const added = files().filter((name) => !before.includes(name));
  expect(added).toHaveLength(1);
  expect(added[0]).toMatch(/^multinic-\d{8}T\d{6}Z-before-restore\.sql$/);

  const back = await restore(added[0] ?? '');
  expect(JSON.parse(back.message)).toMatchObject({ file: added[0], rows: 5 });
  expect(await pod.sql(root, login, 'SHOW TABLES')).toBe('empty\nhistory\nlater\nnic');
  expect(await restore(latest)).toMatchObject({ status: 0 });
});

it.each([
  ['a missing file', 'nowhere.sql', undefined, /^there is no file nowhere\.sql .*mine\.sql/],
  ['a file that is no dump', 'photo.sql', 'GIF89a\n', /^photo\.sql is not a complete dump/],
  [
    'a dump with an SQL error',
    'broken.sql',
    'CREATE TABEL x;\n-- Dump completed on today\n',
    /^broken\.sql cannot be restored, and nothing was changed: ERROR 1064/,
  ],
  [
    'a dump without locks',
    'unlocked.sql',
    'CREATE TABLE `x` (\n id INT);\n-- Dump completed on today\n',
    /^unlocked\.sql was dumped without table locks/,
  ],
])('a restore of %s is refused before anything changes', async (_what, name, text, reason) => {
  if (text !== undefined) put(name, text);
  const before = files();
  refused(await restore(name), 1, reason);
  expect(files()).toEqual(before);
  expect(await count('nic')).toBe(String(rows));
});
