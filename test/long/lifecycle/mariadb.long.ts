import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { rootOf } from '../../../rig/mariadb-image/root.ts';
import { backupScript } from '../../../src/lifecycle/stages/backup/script.ts';
import { prepareData } from '../../../src/lifecycle/stages/database/prepare-data.ts';
import { query, server } from '../../../src/lifecycle/stages/database/stateful-set.ts';
import { type MariadbPod, mariadbPod, stopped } from '../../system/lifecycle/mariadb-pod.ts';

const login = {
  rootPassword: `root ' " \\`,
  password: `user ' " \\ #`,
  backupPassword: `backup ' " \\ #`,
  database: 'multinic',
  user: 'multinic',
  salt: 'salt',
};
const prepare = ['sh', '-c', prepareData];
const rows = 1000;

let older: string;
let newer: string;
let pod: MariadbPod;
let serving: ChildProcess;

const work = (root: string, task: string, file = '', on = pod) =>
  on.run(root, ['sh', '-c', backupScript], {
    env: {
      TASK: task,
      HOST: '127.0.0.1',
      PORT: '3306',
      DATABASE: login.database,
      RETENTION: '3',
      SUFFIX: '',
      FILE: file,
      SAFETY: 'yes',
      CAPACITY: '',
      EMPTY: '',
    },
  });
async function restore(root: string) {
  for (const task of ['load', 'swap']) {
    const { status, message } = await work(root, task, 'latest');
    expect(status, message).toBe(0);
  }
}
const count = (root: string) => pod.sql(root, login, 'SELECT COUNT(*) FROM node_config');

/** A Pod with 10.11 and `rows` rows. */
async function populated(): Promise<readonly [MariadbPod, ChildProcess]> {
  const made = await mariadbPod(mkdtempSync(join(tmpdir(), 'multinic-mariadb-')));
  await made.login(login);
  expect(await made.run(older, prepare)).toMatchObject({ status: 0 });
  const process = await made.serve(older, server);
  const table = 'CREATE TABLE node_config (id INT PRIMARY KEY)';
  await made.sql(
    older,
    login,
    `${table}; INSERT INTO node_config SELECT seq FROM seq_1_to_${rows}`,
  );
  return [made, process];
}

beforeAll(async () => {
  [older, newer] = await Promise.all([rootOf('10.11'), rootOf('11.8')]);
  [pod, serving] = await populated();
});

afterAll(async () => {
  await pod[Symbol.asyncDispose]();
});

it('10.11 is backed up, upgraded to 11.8, refused after the upgrade and served again by 11.8', async () => {
  const before = await work(older, 'backup');
  expect(before.status, before.log).toBe(0);
  await stopped(serving);

  const upgraded = await pod.run(newer, prepare);
  expect(upgraded.status, upgraded.log).toBe(0);
  expect(upgraded.message).toMatch(/^\{"version": "11\.8\.\d+", "installedAt": "\S+Z"\}$/);
  serving = await pod.serve(newer, server);
  expect(await pod.run(newer, query)).toMatchObject({ status: 0 });
  expect(await count(newer)).toBe(String(rows));
  expect(await pod.run(newer, ['mysqladmin', 'ping'])).toMatchObject({ status: 0 });
  await stopped(serving);

  const back = await pod.run(older, prepare);
  expect(back.message).toMatch(
    /^MariaDB 11\.8\.\d+ has opened the data and the image is 10\.11\.\d+: .*set spec\.database\.image to 11\.8/,
  );
  expect(back.status).toBe(3);

  const again = await pod.run(newer, prepare);
  expect(again.status, again.log).toBe(0);
  serving = await pod.serve(newer, server);
  expect(await count(newer)).toBe(String(rows));
});

it('11.8 restores dumps from 10.11 and 11.8', async () => {
  await pod.sql(newer, login, 'DELETE FROM node_config WHERE id > 10');
  await restore(newer);
  expect(await count(newer)).toBe(String(rows));
  const own = await work(newer, 'backup');
  expect(own.status, own.message).toBe(0);
  await pod.sql(newer, login, 'DROP TABLE node_config');
  await restore(newer);
  expect(await count(newer)).toBe(String(rows));
});

it('10.11 refuses an 11.8 dump by the header, and by the mariadb-dump comment', async () => {
  const own = await work(newer, 'backup');
  expect(own.status, own.message).toBe(0);
  const { file } = JSON.parse(own.message) as { file: string };
  const [other] = await populated();
  await using _ = other;
  const text = readFileSync(join(pod.folder, 'backup', file), 'utf8');
  for (const content of [text, text.replace(/^-- multinic .*\n/, '')]) {
    writeFileSync(join(other.folder, 'backup', file), content);
    const refused = await work(older, 'load', file, other);
    expect(refused.status).toBe(1);
    expect(refused.message).toMatch(
      / is of MariaDB 11\.8, newer than the server's 10\.11.*; nothing was changed$/,
    );
  }
  expect(await other.sql(older, login, 'SELECT COUNT(*) FROM node_config')).toBe(String(rows));
});

it('11.8 upgrades data from a killed 10.11 (SIGKILL) without a lost row', async () => {
  const [other, process] = await populated();
  await using _ = other;
  await stopped(process, 'SIGKILL');
  const upgraded = await other.run(newer, prepare);
  expect(upgraded.status, upgraded.message).toBe(0);
  await other.serve(newer, server);
  expect(await other.sql(newer, login, 'SELECT COUNT(*) FROM node_config')).toBe(String(rows));
});
