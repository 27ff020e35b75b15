import { type ChildProcess, execFileSync } from 'node:child_process';
import { chownSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Series } from '../../../rig/mariadb-image/contents.ts';
import { rootOf } from '../../../rig/mariadb-image/root.ts';
import type { Login } from '../../../src/lifecycle/model/mariadb/login.ts';
import { backupScript } from '../../../src/lifecycle/stages/backup/script.ts';
import { prepareData } from '../../../src/lifecycle/stages/database/prepare-data.ts';
import { server } from '../../../src/lifecycle/stages/database/stateful-set.ts';
import {
  type Ended,
  type MariadbPod,
  mariadbPod,
  type RunOptions,
  stopped,
} from './mariadb-pod.ts';

export const login: Login = {
  rootPassword: 'root-1',
  password: 'user-1',
  backupPassword: 'backup-1',
  database: 'multinic',
  user: 'multinic',
  salt: 'salt',
};

export const prepare = ['sh', '-c', prepareData];
export const rows = 1000;

/** Tables in a MultiNIC database, and tables that a site may add. */
const tables = `CREATE TABLE node_config (id INT PRIMARY KEY, note TEXT);
  INSERT INTO node_config SELECT seq, CONCAT('it''s \\\\ line\\n', seq) FROM seq_1_to_${rows};
  CREATE TABLE history (id INT AUTO_INCREMENT PRIMARY KEY, nic INT, FOREIGN KEY (nic) REFERENCES node_config (id));
  INSERT INTO history (nic) SELECT seq FROM seq_1_to_10;
  CREATE TABLE empty (id INT)`;

/** Objects that a site adds as root, and objects that a later release may add. */
const additions = `CREATE TABLE audit_log (id INT AUTO_INCREMENT PRIMARY KEY, what TEXT);
  CREATE TABLE twice (id INT, sum INT AS (id * 2) STORED); INSERT INTO twice (id) VALUES (4);
  CREATE TABLE aria (id INT) ENGINE=Aria; INSERT INTO aria VALUES (1), (2);
  CREATE TABLE myisam (id INT) ENGINE=MyISAM; INSERT INTO myisam VALUES (3);
  CREATE TABLE versions (id INT) WITH SYSTEM VERSIONING; INSERT INTO versions VALUES (1); UPDATE versions SET id = 2;
  CREATE SEQUENCE numbers;
  CREATE FUNCTION three() RETURNS INT RETURN 3;
  CREATE VIEW report AS SELECT COUNT(*) AS n, three() AS m FROM node_config;
  CREATE VIEW summary AS SELECT n + 1 AS n FROM report;
  CREATE TRIGGER audit AFTER INSERT ON node_config FOR EACH ROW INSERT INTO audit_log (what) VALUES (NEW.note);
  CREATE EVENT tidy ON SCHEDULE EVERY 1 DAY DO DELETE FROM audit_log`;

/** A procedure with a line that resembles a dump row. */
const procedure =
  'CREATE PROCEDURE refill()\nBEGIN\nINSERT INTO `node_config` VALUES (0, NULL);\nEND';

/** True in the long suite, which runs all cases. */
export const isWhole = process.env['MULTINIC_TEST_DEPTH'] === 'all';

/** Edits between a backup and the restore. */
export const change =
  'DELETE FROM history WHERE id > 3; UPDATE node_config SET note = NULL; DROP PROCEDURE refill';

export interface Work extends RunOptions {
  /** The script with an edit, such as a kill between two steps. */
  readonly script?: string;
}

/** A running MariaDB with the backup script. */
export interface BackupScene extends AsyncDisposable {
  readonly pod: MariadbPod;
  /** Root filesystem of the current series. */
  readonly root: string;
  sql(statement: string): Promise<string>;
  work(env: Readonly<Record<string, string>>, options?: Work): Promise<Ended>;
  /** Runs load and swap; fails on the first error. */
  restore(file: string, safety?: 'yes' | 'no'): Promise<{ loaded: Loaded; swapped: Written }>;
  /** A verified backup. */
  backup(env?: Readonly<Record<string, string>>): Promise<Written & { n: number }>;
  /** Visible files on the backup volume. */
  files(): string[];
  put(name: string, text: string | Buffer): void;
  read(name: string): string;
  /** Checksums of all non-empty tables, by table. */
  checksums(schema?: string): Promise<string>;
  /** Definitions of all tables, views, triggers, routines and events. */
  definitions(): Promise<string>;
  /** Stops MariaDB, prepares the data with this series, and starts this series unless the preparation refuses. */
  replace(series: Series): Promise<Ended>;
  /** Stops MariaDB, runs `edit` on the folder of the live schema, and starts MariaDB. */
  whileStopped(
    edit: (folder: string) => void,
    signal?: 'SIGTERM' | 'SIGKILL',
    forMs?: number,
  ): Promise<void>;
}

interface Written {
  readonly file: string;
  readonly bytes: number;
  readonly at: string;
  readonly verified: boolean;
  readonly rows: number;
}
interface Loaded extends Written {
  readonly safety: string | null;
  readonly definers: readonly string[];
}

const environment = {
  TASK: 'backup',
  HOST: '127.0.0.1',
  PORT: '3306',
  DATABASE: login.database,
  RETENTION: '3',
  SUFFIX: '',
  EMPTY: '',
  FILE: 'latest',
  SAFETY: 'yes',
  CAPACITY: '',
};

export const newPod = () => mariadbPod(mkdtempSync(join(tmpdir(), 'multinic-mariadb-')));

export async function backupScene(seed = tables, series: Series = '10.11'): Promise<BackupScene> {
  let root = await rootOf(series);
  const pod = await newPod();
  await pod.login(login);
  const installed = await pod.run(root, prepare);
  expect(installed.status, installed.log).toBe(0);
  let serving: ChildProcess = await pod.serve(root, server);
  const volume = join(pod.folder, 'backup');

  const sql = (statement: string) => pod.sql(root, login, statement);
  const work: BackupScene['work'] = (env, { script = backupScript, ...options } = {}) =>
    pod.run(root, ['sh', '-c', script], { env: { ...environment, ...env }, ...options });
  async function succeeded(env: Readonly<Record<string, string>>): Promise<never> {
    const { status, message, log } = await work(env);
    expect(status, message + log).toBe(0);
    return JSON.parse(message) as never;
  }

  await sql(seed);
  return {
    pod,
    get root() {
      return root;
    },
    sql,
    work,
    backup: (env = {}) => succeeded(env),
    async restore(file, safety = 'yes') {
      const loaded: Loaded = await succeeded({ TASK: 'load', FILE: file, SAFETY: safety });
      const swapped: Written = await succeeded({ TASK: 'swap', FILE: file });
      return { loaded, swapped };
    },
    files: () =>
      readdirSync(volume)
        .filter((name) => !name.startsWith('.'))
        .toSorted(),
    put(name, text) {
      writeFileSync(join(volume, name), text);
      chownSync(join(volume, name), 999, 999);
    },
    read: (name) => readFileSync(join(volume, name), 'utf8'),
    async checksums(schema = login.database) {
      const names = await sql(
        `SELECT table_name FROM information_schema.tables WHERE table_schema = '${schema}' AND table_type = 'BASE TABLE' ORDER BY 1`,
      );
      const list = names.split('\n').map((name) => `${schema}.${name}`);
      const sums = await sql(`CHECKSUM TABLE ${list.join(', ')}`);
      return sums.replaceAll(`${schema}.`, '');
    },
    async definitions() {
      const dump = 'mariadb-dump --defaults-file=/etc/multinic/root.cnf --no-data';
      const options = '--triggers --routines --events --skip-comments';
      const { log } = await pod.run(root, ['sh', '-c', `${dump} ${options} ${login.database}`]);
      return log.replaceAll(/AUTO_INCREMENT=\d+ /g, '');
    },
    async replace(next) {
      await stopped(serving);
      const newRoot = await rootOf(next);
      const prepared = await pod.run(newRoot, prepare);
      if (prepared.status !== 0) return prepared;
      root = newRoot;
      serving = await pod.serve(root, server);
      return prepared;
    },
    async whileStopped(edit, signal = 'SIGTERM', forMs = 0) {
      await stopped(serving, signal);
      await new Promise((resolve) => setTimeout(resolve, forMs));
      edit(join(pod.folder, 'var/lib/mysql', login.database));
      execFileSync('chown', ['-R', '999:999', join(pod.folder, 'var/lib/mysql')]);
      serving = await pod.serve(root, server);
    },
    [Symbol.asyncDispose]: () => pod[Symbol.asyncDispose](),
  };
}

/** Expects a failure with this exit status and text. */
export function refused({ status, message }: Ended, reason: RegExp, expected = 1) {
  expect(message).toMatch(reason);
  expect(message).not.toContain('\n');
  expect(status).toBe(expected);
}

/** A scene with all kinds of objects, and a verified backup. */
export async function restoreScene() {
  const scene = await backupScene(`${tables}; ${additions}`);
  const { pod, root } = scene;
  scene.put('procedure.sql', `DELIMITER //\n${procedure}//\n`);
  const options = '--defaults-file=/etc/multinic/root.cnf multinic';
  const created = await pod.run(root, ['sh', '-c', `mariadb ${options} </backup/procedure.sql`]);
  expect(created.log).toBe('');
  const { file } = await scene.backup();
  return { scene, file, before: await stateOf(scene) };
}

/** Complete content of the live schema. Foreign keys must not lead to the former or the loaded tables. */
export async function stateOf(scene: BackupScene) {
  const crossing = await scene.sql(
    `SELECT for_name, ref_name FROM information_schema.innodb_sys_foreign WHERE ${schemaOf('for_name')} <> ${schemaOf('ref_name')}`,
  );
  const [checksums, definitions] = [await scene.checksums(), await scene.definitions()];
  return { checksums, definitions, crossing };
}

function schemaOf(name: string): string {
  return `SUBSTRING_INDEX(${name}, '/', 1)`;
}

/** The script with a SIGKILL for the whole container after a step in a task. */
export function killedAfter(task: 'load' | 'swap', step: string): string {
  const [before = '', after = ''] = backupScript.split(`\n${task}() {\n`);
  const call = new RegExp(`\\n( +${step}(?: \\|\\| fail .*)?)\\n`);
  const edited = after.replace(call, '\n$1\n kill -9 -1 || :; kill -9 $$$$\n');
  if (edited === after) throw new Error(`the script has no step ${step}`);
  return `${before}\n${task}() {\n${edited}`;
}
