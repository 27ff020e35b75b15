import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { backupScript } from '../../../src/lifecycle/stages/backup/script.ts';
import { prepareData } from '../../../src/lifecycle/stages/database/prepare-data.ts';
import { query } from '../../../src/lifecycle/stages/database/stateful-set.ts';
import { inTurn } from '../../rotation.ts';
import {
  type BackupScene,
  backupScene,
  killedAfter,
  login,
  newPod,
  prepare,
  refused,
  rows,
} from './backup-scene.ts';

let scene: BackupScene;

beforeAll(async () => {
  scene = await backupScene();
});

afterAll(async () => {
  await scene[Symbol.asyncDispose]();
});

const act = inTurn('scripts of MariaDB', 2, (title: string, test: () => Promise<void>) =>
  it(title, test),
);

act(
  'prepare-data refuses foreign files and data of MySQL 8, and installs again after an interruption',
  async () => {
    await using other = await newPod();
    const data = join(other.folder, 'var/lib/mysql');
    writeFileSync(join(data, 'photo.jpg'), '');
    const foreign = await other.run(scene.root, prepare);
    refused(foreign, /photo\.jpg/, 4);
    expect(readdirSync(data)).toEqual(['photo.jpg']);

    writeFileSync(join(data, '.multinic-install'), '');
    execFileSync('chown', ['-R', '999:999', data]);
    expect(await other.run(scene.root, prepare)).toMatchObject({ status: 0 });
    expect(readdirSync(data)).toContain('mysql_upgrade_info');
    expect(readdirSync(data)).not.toContain('photo.jpg');

    writeFileSync(join(data, 'mysql.ibd'), '');
    const mysql = await other.run(scene.root, prepare);
    refused(mysql, /MySQL 8/, 4);
    rmSync(join(data, 'mysql.ibd'));

    writeFileSync(join(data, 'mysql_upgrade_info'), '11.8.9-MariaDB');
    const newer = await other.run(scene.root, prepare);
    refused(newer, /11\.8\.9/, 3);
  },
);

act('prepare-data names the programs that an image lacks', async () => {
  const command = ['env', 'PATH=/usr/sbin', '/bin/sh', '-c', prepareData];
  refused(
    await scene.pod.run(scene.root, command),
    /^the image has no mariadb mariadb-dump .*official mariadb image$/,
    7,
  );
});

act(
  'the init file sets passwords of all kinds at each start, and accounts without a password do not exist',
  async () => {
    const { pod, root } = scene;
    const accounts = await scene.sql('SELECT user, host FROM mysql.user ORDER BY 1, 2');
    expect(accounts.split('\n')).toEqual([
      'mariadb.sys\tlocalhost',
      'multinic\t%',
      'multinic_backup\t%',
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
      await pod.login({ ...login, password, backupPassword: password });
      await scene.whileStopped(() => undefined, password.includes('한') ? 'SIGKILL' : 'SIGTERM');
      expect(await pod.run(root, query), password).toMatchObject({ status: 0 });
      const asBackup = query.map((word) => word.replace('client.cnf', 'backup.cnf'));
      expect(await pod.run(root, asBackup), password).toMatchObject({ status: 0 });
    }
    await pod.login({ ...login, password: 'wrong' });
    expect(await pod.run(root, query)).toMatchObject({ status: 1 });
    await pod.login(login);
    await scene.whileStopped(() => undefined);
    const ping = await pod.run(root, ['mysqladmin', 'ping']);
    expect(ping.status).toBe(0);
    expect(await scene.sql('SELECT COUNT(*) FROM node_config')).toBe(String(rows));
  },
);

it('a backup is verified, replaces no file and removes the oldest beyond the retention', async () => {
  scene.put('multinic-20200101T000000Z.sql.part', 'left behind');
  const old = ['01', '02', '03'].map((day) => `multinic-202001${day}T000000Z.sql`);
  for (const name of old) scene.put(name, '');
  scene.put('mine.sql', '');
  const { status, message, log } = await scene.work({});
  expect(status, log).toBe(0);
  const result = JSON.parse(message) as { file: string; bytes: number; at: string };
  expect(result).toMatchObject({ verified: true, rows: rows + 10, tables: 1, n: 1 });
  expect(scene.files()).toEqual(['mine.sql', ...old.slice(1), result.file]);
  const text = scene.read(result.file);
  expect(Buffer.byteLength(text)).toBe(result.bytes);
  const [first = ''] = text.split('\n');
  const header = { n: 1, rows: rows + 10, series: '10.11', at: result.at };
  expect(JSON.parse(first.replace('-- multinic ', ''))).toEqual(header);
  expect(log).not.toContain(login.backupPassword);
});

act('a backup with retention 0 removes nothing', async () => {
  const present = scene.files();
  const { file } = await scene.backup({ RETENTION: '0' });
  expect(scene.files()).toEqual([...present, file].toSorted());
  rmSync(join(scene.pod.folder, 'backup', file));
});

it('a backup has the greatest number even if a clock ran ahead, and is then the latest and the last to go', async () => {
  const early = await scene.backup();
  const future = 'multinic-20990101T000000Z.sql';
  scene.put(future, scene.read(early.file));
  const present = await scene.checksums();
  const later = [await scene.backup(), await scene.backup(), await scene.backup()];
  expect(later.map(({ n }) => n)).toEqual([3, 4, 5]);
  expect(scene.files()).toEqual(['mine.sql', ...later.map(({ file }) => file)]);
  const { loaded } = await scene.restore('latest');
  expect(loaded.file).toBe(later[2]?.file);
  expect(await scene.checksums()).toBe(present);
});

it('backups continue after a swap that failed before any change, and before-restore stays', async () => {
  const mark = (text: string) => scene.sql(`UPDATE node_config SET note = '${text}' WHERE id = 1`);
  const marked = () => scene.sql('SELECT note FROM node_config WHERE id = 1');
  const note = await marked();
  const { file } = await scene.backup();
  await mark('first');
  const { loaded } = await scene.restore(file);
  await mark('second');
  expect((await scene.work({ TASK: 'load', FILE: file })).status).toBe(0);
  const script = killedAfter('swap', 'create_schemas');
  expect(await scene.work({ TASK: 'swap' }, { script })).toMatchObject({ status: 137 });
  const later = await scene.backup();
  expect(await marked()).toBe('second');
  const undone = await scene.restore('before-restore');
  expect(undone.loaded.file).toBe(loaded.safety);
  expect(await marked()).toBe('first');
  await scene.restore(file, 'no');
  expect(await marked()).toBe(note);
  for (const name of [later.file, loaded.safety, undone.loaded.safety]) {
    rmSync(join(scene.pod.folder, 'backup', name ?? ''));
  }
});

it('a backup fails while a restore from an earlier release is unfinished, until an empty volume is accepted', async () => {
  const present = scene.files();
  scene.put('.dropped', '');
  refused(await scene.work({}), /^a restore has not ended, but has dropped .*append @TEXT to the/);
  const { file } = await scene.backup({ EMPTY: 'yes' });
  rmSync(join(scene.pod.folder, 'backup', file));
  await scene
    .backup({ RETENTION: '0' })
    .then((made) => rmSync(join(scene.pod.folder, 'backup', made.file)));
  expect(scene.files()).toEqual(present);
});

it('backups before upgrades do not push out the scheduled backups', async () => {
  const present = scene.files();
  const made: string[] = [];
  for (let n = 0; n < 4; n++) made.push((await scene.backup({ SUFFIX: '-before-upgrade' })).file);
  expect(scene.files()).toEqual([...present, ...made.slice(1)].toSorted());
  for (const name of made.slice(1)) rmSync(join(scene.pod.folder, 'backup', name));
});

it('empty backups do not replace the last backup with rows', async () => {
  await scene.sql('CREATE DATABASE aside');
  const moves = ['node_config', 'history', 'empty'].map((name) => [
    `multinic.${name}`,
    `aside.${name}`,
  ]);
  const rename = (pairs: readonly (readonly string[])[]) =>
    scene.sql(`RENAME TABLE ${pairs.map(([from, to]) => `${from} TO ${to}`).join(', ')}`);
  const full = await scene.backup();
  await rename(moves);
  const empty = [await scene.backup({ RETENTION: '1' }), await scene.backup({ RETENTION: '1' })];
  expect(empty).toMatchObject([
    { rows: 0, tables: 0 },
    { rows: 0, tables: 0 },
  ]);
  const backups = scene.files().filter((name) => /\dZ\.sql$/.test(name));
  expect(backups).toEqual([full.file, empty[1]?.file]);
  expect((await scene.restore('latest', 'no')).loaded.file).toBe(full.file);
  await scene.sql('DROP TABLE history, node_config, empty');
  await rename(moves.map((pair) => pair.toReversed()));
});

it('a backup fails that would lack an inventory table', async () => {
  await scene.sql(
    "CREATE TABLE migrations (name TEXT); INSERT INTO migrations VALUES ('0001-node-config'), ('0003-server-nics')",
  );
  refused(await scene.work({}), /^the dump would lack tables of the inventory .*: server_nics \(/);
  await scene.sql('CREATE TABLE server_nics (id INT)');
  expect(await scene.backup()).toMatchObject({ verified: true, tables: 2 });
  await scene.sql('DROP TABLE migrations, server_nics');
});

it('a failed backup leaves no partial file and changes no other file', async () => {
  const before = scene.files();
  const away = await scene.work({ PORT: '3307' });
  refused(away, /^MariaDB at 127\.0\.0\.1:3307 cannot be reached: /);
  const cut = backupScript.replace('"$live" >>"$part"', '"$live" | head -n 60 >>"$part"');
  expect(cut).not.toBe(backupScript);
  refused(await scene.work({}, { script: cut }), /^the dump is truncated/);
  const empty = backupScript.replace(
    '"$live" >>"$part"',
    '"$live" | grep -v "VALUES (7," >>"$part"',
  );
  const lossy = empty.replace(
    'rows_written "$part"',
    'rows_written "$folder/$(newest_with_rows "$regular")"',
  );
  refused(
    await scene.work({}, { script: lossy }),
    /^row counts of the dump and of its restored copy differ/,
  );
  expect(scene.files()).toEqual(before);
});

act(
  'a backup names the missing account, as long as MariaDB has not restarted with the new init file',
  async () => {
    await scene.sql('RENAME USER multinic_backup TO later');
    refused(
      await scene.work({}),
      /^account multinic_backup does not exist yet: .*restart Pod mariadb-0/,
    );
    await scene.sql('RENAME USER later TO multinic_backup');
  },
);

it('a full backup volume gives up its oldest files for the next dump, but never the newest with rows', async () => {
  for (const name of scene.files()) rmSync(join(scene.pod.folder, 'backup', name));
  const made = [await scene.backup(), await scene.backup(), await scene.backup()];
  const bytes = made[0]?.bytes ?? 0;
  const size = (files: number) => `${Math.ceil((files * bytes) / 1024)}k`;
  const healed = await scene.work({ RETENTION: '7' }, { backupSize: size(3.3) });
  expect(healed.status, healed.message).toBe(0);
  const left = readFileSync(join(scene.pod.folder, 'backup-volume'), 'utf8');
  expect(left).toContain(made[2]?.file);
  expect(left).not.toContain(made[0]?.file);

  for (const { file } of made.slice(0, 2)) rmSync(join(scene.pod.folder, 'backup', file));
  const small = await scene.work({ RETENTION: '1' }, { backupSize: size(1.5) });
  refused(
    small,
    /^the backup volume is full: 0 of 0 MiB used, a dump needs about 1 MiB: set spec\.database\.backup\.storageSize to at least \dMi$/,
    8,
  );
  const after = readFileSync(join(scene.pod.folder, 'backup-volume'), 'utf8');
  expect(after).toContain(made[2]?.file);
  expect(after).not.toContain('.part');
});

act('a backup fails with the name of a view or foreign key that it could not restore', async () => {
  await scene.sql('CREATE DATABASE bi; CREATE TABLE bi.x (id INT PRIMARY KEY)');
  await scene.sql('CREATE VIEW v AS SELECT id FROM bi.x');
  refused(await scene.work({}), /cannot be restored: .*`bi`\.`x`.*uses another schema/);
  await scene.sql('DROP VIEW v; CREATE TABLE o (id INT, FOREIGN KEY (id) REFERENCES bi.x (id))');
  refused(await scene.work({}), /cannot be restored: .*`bi`\.`x`.*uses another schema/);
  await scene.sql('DROP TABLE o; CREATE VIEW w AS SELECT id FROM empty; DROP TABLE empty');
  refused(await scene.work({}), /^the dump failed: .*View 'multinic\.w' references invalid table/);
  await scene.sql('DROP VIEW w; CREATE TABLE empty (id INT)');
});
