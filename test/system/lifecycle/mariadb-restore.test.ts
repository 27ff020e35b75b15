import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { backupScript } from '../../../src/lifecycle/stages/backup/script.ts';
import { inTurn, rotated } from '../../rotation.ts';
import {
  type BackupScene,
  change,
  killedAfter,
  login,
  refused,
  restoreScene,
  rows,
  stateOf,
  type Work,
} from './backup-scene.ts';

let scene: BackupScene;
/** A verified backup with the seed. */
let file: string;
let before: Awaited<ReturnType<typeof stateOf>>;

const load = (name: string, env: Readonly<Record<string, string>> = {}, options: Work = {}) =>
  scene.work({ TASK: 'load', FILE: name, ...env }, options);
const state = () => stateOf(scene);

beforeAll(async () => {
  ({ scene, file, before } = await restoreScene());
});

afterAll(async () => {
  await scene[Symbol.asyncDispose]();
});

const act = inTurn('restores', 2, (title: string, test: () => Promise<void>) => it(title, test));

it('a restore brings back tables, views, triggers, routines and events by root', async () => {
  expect(before.definitions).toMatch(/TRIGGER audit .*PROCEDURE `refill`.*VIEW `summary`/s);
  await scene.sql(change);
  const { loaded, swapped } = await scene.restore('latest');
  expect(loaded).toMatchObject({ file, verified: true, rows: rows + 15, definers: [] });
  expect(loaded.safety).toMatch(/^multinic-\d{8}T\d{6}Z-before-restore\.sql$/);
  expect(swapped).toMatchObject({ file, verified: true, rows: rows + 15 });
  expect(await state()).toEqual(before);
  expect(await scene.sql('SELECT n FROM summary')).toBe(String(rows + 1));
  expect(await scene.sql('SELECT COUNT(*) FROM multinic_before_restore.history')).toBe('3');
  const hidden = execFileSync('ls', ['-A', join(scene.pod.folder, 'backup')], { encoding: 'utf8' });
  expect(hidden).not.toMatch(/\.restore-|\.dropped/);

  const back = await scene.restore('before-restore');
  expect(back.loaded.file).toBe(loaded.safety);
  expect(back.swapped.rows).toBe(rows + 8);
  expect(await scene.sql('SELECT COUNT(*) FROM history')).toBe('3');
  expect((await scene.restore(file, 'no')).loaded.safety).toBeNull();
  expect(await state()).toEqual(before);
});

it('before-restore undoes the last completed restore, and is refused if that restore made no dump', async () => {
  const mark = (text: string) => scene.sql(`UPDATE node_config SET note = '${text}' WHERE id = 1`);
  const marked = () => scene.sql('SELECT note FROM node_config WHERE id = 1');
  await mark('good');
  await scene.restore(file);
  const script = killedAfter('load', 'publish_copy');
  const env = { RETENTION: '1' };
  expect(await load('before-restore', env, { script })).toMatchObject({ status: 137 });
  expect((await load('before-restore', env)).status).toBe(0);
  expect((await load('before-restore', env)).status).toBe(0);
  expect((await scene.work({ TASK: 'swap' })).status).toBe(0);
  expect(await marked()).toBe('good');

  await scene.restore(file, 'no');
  refused(await load('before-restore'), /^the last restore made no dump .*nothing was changed$/);
  expect(await state()).toEqual(before);
});

it('a backup drops the tables of before the restore, but an empty database does not', async () => {
  const names = () => scene.sql("SHOW DATABASES LIKE 'multinic%'");
  expect(await names()).toBe('multinic\nmultinic_before_restore');
  await scene.backup();
  expect(await names()).toBe('multinic');
});

act('a DEFINER whose account is gone is replaced and reported', async () => {
  await scene.sql(
    "CREATE USER bi@'10.%'; GRANT SELECT ON multinic.* TO bi@'10.%'; CREATE DEFINER=bi@'10.%' VIEW ids AS SELECT id FROM node_config; CREATE VIEW ids2 AS SELECT id FROM ids",
  );
  const made = await scene.backup();
  await scene.sql("DROP USER bi@'10.%'; DROP VIEW ids, ids2");
  const { loaded } = await scene.restore(made.file);
  expect(loaded.definers).toEqual(['bi@10.%']);
  expect(await scene.sql('SELECT COUNT(*) FROM ids2')).toBe(String(rows));
  await scene.sql('DROP VIEW ids, ids2');
  rmSync(join(scene.pod.folder, 'backup', made.file));
  expect(await state()).toEqual(before);
});

act(
  'files of an earlier release, without a number, are older than numbered files and can be restored',
  async () => {
    const unnumbered = 'multinic-20991231T000000Z.sql';
    scene.put(unnumbered, scene.read(file).replace(/^-- multinic .*\n/, ''));
    const { loaded } = await scene.restore('latest', 'no');
    expect(loaded.file).not.toBe(unnumbered);
    await scene.sql(change);
    const former = await scene.restore(unnumbered);
    expect(former.swapped).toMatchObject({ file: unnumbered, rows: rows + 15 });
    expect(await state()).toEqual(before);
    rmSync(join(scene.pod.folder, 'backup', unnumbered));
  },
);

act('a load is refused below MariaDB 10.6 with the way to restore by hand', async () => {
  const script = backupScript.replace('-ge 10006', '-ge 10012');
  refused(
    await load(file, {}, { script }),
    /^MariaDB 10\.11 cannot exchange all tables .*load \S+\.sql by hand as root: .*nothing was changed$/,
  );
});

describe('a load is refused before anything changes', () => {
  const end = '-- Dump completed on 2026-11-29  0:00:00\n';
  const config = 'CREATE TABLE `node_config` (id INT);\n';
  type Row = readonly [string, string | ((text: string) => string | Buffer), RegExp];
  const foreign: Row = [
    'a dump of another product',
    `CREATE TABLE \`wp_posts\` (id INT);\n${end}`,
    /holds no MultiNIC database: .*only: wp_posts/,
  ];
  const files: readonly Row[] = [
    ['a missing file', '', /^there is no file nowhere\.sql .*the newest files are: multinic-/],
    ['an empty file', () => '', /is empty/],
    ['a picture', 'GIF89a\n', /is not a complete dump/],
    ['a cut dump', (text) => text.slice(0, -2000), /is not a complete dump: .*it was cut/],
    ['a compressed dump', (text) => gzipSync(text), /is compressed with gzip; unpack it first/],
    ['a dump with CRLF', (text) => text.replaceAll('\n', '\r\n'), /has line ends of Windows/],
    ['an SQL error', `CREATE TABEL x;\n${end}`, /cannot be restored by MariaDB 10\.11: ERROR 1064/],
    [
      'a newer series in the header',
      (text) => text.replace('"series": "10.11"', '"series": "11.8"'),
      /is of MariaDB 11\.8, newer than the server's 10\.11, .*set spec\.database\.image/,
    ],
    [
      'a newer series in a dump without a header',
      `-- Server version\t12.1.2-MariaDB-ubu2404\n${config}${end}`,
      /is of MariaDB 12\.1, newer/,
    ],
    [
      'an unknown collation',
      `CREATE TABLE \`node_config\` (id INT) COLLATE utf8mb4_new_ci;\n${end}`,
      /cannot be restored by MariaDB 10\.11: ERROR 1273 .*Unknown collation: 'utf8mb4_new_ci'/,
    ],
    [
      'a dump with a lost line',
      (text) => text.replace(/^INSERT INTO `history` VALUES \(5.*\n/m, ''),
      /was changed after it was written: it should have 1015 rows, and has 1014/,
    ],
    [
      'a dump that changes another schema',
      `${config}CREATE DATABASE other;\n${end}`,
      /ERROR 1044 .*uses another schema/,
    ],
  ];
  const inThisRun = rotated('files that a load refuses', files, 2, ([what]) => what);
  it.each([foreign, ...inThisRun])('%s', async (what, text, reason) => {
    const name = what === 'a missing file' ? 'nowhere.sql' : 'other.sql';
    const content = typeof text === 'string' ? text : text(scene.read(file));
    if (name === 'other.sql') scene.put(name, content);
    const present = [scene.files(), await scene.sql('SHOW DATABASES')];
    const ended = await load(name);
    refused(ended, reason);
    expect(ended.message).toMatch(/; nothing was changed$/);
    expect([scene.files(), await scene.sql('SHOW DATABASES')]).toEqual(present);
  });

  it('a data volume without room for two copies', async () => {
    refused(
      await load(file, { CAPACITY: String(256 * 1024) }),
      /^the data volume is too small for a second copy .*and the volume has 1 MiB; set spec\.database\.storageSize to at least \dMi; nothing was changed$/,
    );
    const enough = await load(file, { CAPACITY: String(1024 ** 3), SAFETY: 'no' });
    expect(enough.status, enough.message).toBe(0);
  });

  it('a foreign key from a foreign schema, which would follow the former table', async () => {
    await scene.sql(
      'CREATE DATABASE bi; CREATE TABLE bi.t (id INT PRIMARY KEY, FOREIGN KEY (id) REFERENCES multinic.node_config (id))',
    );
    refused(
      await load(file),
      /foreign key to a table of multinic, .*: bi\.t to multinic\.node_config; drop this foreign key first/,
    );
    await scene.sql('DROP DATABASE bi');
  });

  it('the present state was not changed by the refused loads', async () => {
    expect(await state()).toEqual(before);
  });
});

act(
  'a dump of mariadb-dump --databases without header, locks and single rows is restored, and touches the live schema only at the swap',
  async () => {
    const program = 'mariadb-dump --defaults-file=/etc/multinic/root.cnf --skip-add-locks';
    const command = `${program} --routines --events --databases multinic >/backup/site.sql`;
    expect((await scene.pod.run(scene.root, ['sh', '-c', command])).log).toBe('');
    await scene.sql(change);
    const loaded = await load('site.sql');
    expect(loaded.status, loaded.message).toBe(0);
    expect(await scene.sql('SELECT COUNT(*) FROM history')).toBe('3');
    expect((await scene.work({ TASK: 'swap' })).status).toBe(0);
    expect(await state()).toEqual(before);
    rmSync(join(scene.pod.folder, 'backup/site.sql'));
  },
);

act('a database on an empty volume is restored from the newest backup', async () => {
  await scene.sql(`DROP DATABASE ${login.database}`);
  await scene.restore('latest', 'no');
  expect(await state()).toEqual(before);
});
