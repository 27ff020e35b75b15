import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rotated } from '../../rotation.ts';
import {
  type BackupScene,
  isWhole,
  login,
  refused,
  restoreScene,
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

function overwrite(folder: string, page = 3): void {
  const path = join(folder, 'node_config.ibd');
  const place = ['bs=16k', `seek=${page}`, 'count=4', 'conv=notrunc', 'status=none'];
  execFileSync('dd', ['if=/dev/urandom', `of=${path}`, ...place]);
}

type Damage = readonly [string, (folder: string) => void, RegExp];

const pages: readonly Damage[] = [
  ['overwritten rows', (folder) => overwrite(folder, 5), /(corrupt|1712|1034|Lost connection)/],
  ['overwritten pages', overwrite, /Table `multinic`\.`node_config` is corrupted/],
];
const lost: Damage = [
  'a lost .ibd file',
  (folder) => rmSync(join(folder, 'node_config.ibd')),
  /Tablespace is missing for a table/,
];

/** All files of a table, and the dictionary file alone. */
const further: readonly Damage[] = [
  [
    'a lost .frm file',
    (folder) => rmSync(join(folder, 'node_config.frm')),
    /lack tables .*: node_config/,
  ],
  [
    'an empty .ibd file',
    (folder) => writeFileSync(join(folder, 'node_config.ibd'), ''),
    /node_config/,
  ],
];

/** Checksums of all tables except the damaged table. */
const undamaged = (sums: string) =>
  sums.split('\n').filter((line) => !line.startsWith('node_config\t'));

/** Events between the damage and the discovery by a user. */
const operations: readonly (readonly [string, () => Promise<void>])[] = [
  ['a second restart', () => scene.whileStopped(() => undefined)],
  ['a SIGKILL', () => scene.whileStopped(() => undefined, 'SIGKILL')],
  [
    'a rotation of the passwords',
    async () => {
      await scene.pod.login({ ...login, password: 'user-2', backupPassword: 'backup-2' });
      await scene.whileStopped(() => undefined);
    },
  ],
];

describe('damages', () => {
  it.each([...rotated('damaged pages', pages, 2, ([what]) => what), lost])(
    '%s: the restore refuses with a safety dump, and succeeds without',
    async (_what, damage, reason) => {
      await scene.whileStopped(damage);
      const ended = await load(file);
      refused(ended, reason);
      refused(await scene.work({}), reason);
      expect(ended.message).toMatch(
        /^the present data cannot be dumped before the restore: .*; set multinic\.io\/restore: \S+sql! to restore without this dump; nothing was changed$/,
      );
      await scene.restore(file, 'no');
      expect(await state()).toEqual(before);
      await scene.sql('DELETE FROM history WHERE nic = 1; DELETE FROM node_config WHERE id = 1');
      await scene.restore(file);
    },
  );

  it('a lost .frm file: backup and safety dump name the table, and the restore succeeds without', async () => {
    await scene.whileStopped((folder) => rmSync(join(folder, 'twice.frm')));
    const files = scene.files();
    refused(
      await scene.work({}),
      /^the dump would lack tables .*: twice \(.*\.frm.*; restore a backup .*: latest!$/,
    );
    expect(scene.files()).toEqual(files);
    refused(await load(file), /^the present data cannot be dumped .* lack tables .*: twice \(/);
    await scene.restore(file, 'no');
    expect(await state()).toEqual(before);
  });

  it('a full backup volume: the restore names the size, and succeeds without a safety dump', async () => {
    for (const name of scene.files()) {
      if (name !== file) rmSync(join(scene.pod.folder, 'backup', name));
    }
    const { bytes } = await scene.backup();
    const present = await state();
    const backupSize = `${Math.ceil((2 * bytes) / 1024 + 48)}k`;
    refused(
      await load(file, {}, { backupSize }),
      /the backup volume is full: .*storageSize to at least \dMi; set multinic\.io\/restore: \S+sql! /,
    );
    expect(await state()).toEqual(present);
    const loaded = await load(file, { SAFETY: 'no' }, { backupSize });
    expect(loaded.status, loaded.message).toBe(0);
  });

  const all = [...pages, lost, ...further];
  const pairs = all.flatMap((damage) => operations.map((after) => ({ damage, after })));

  it.each(isWhole ? pairs : [])(
    '$damage.0, then $after.0: no backup, the other tables stay, and a restore brings all back',
    async ({ damage: [, damage, reason], after: [, act] }) => {
      await scene.whileStopped(damage);
      await act();
      const files = scene.files();
      refused(await scene.work({}), reason);
      expect(scene.files()).toEqual(files);
      expect(undamaged(await scene.checksums())).toEqual(undamaged(before.checksums));
      await scene.restore(file, 'no');
      expect(await state()).toEqual(before);
    },
  );

  it.each(isWhole ? all : [])(
    '%s, then an upgrade to 11.8: a restore brings all back',
    async (_what, damage) => {
      await using other = (await restoreScene()).scene;
      const present = await contentOf(other);
      await other.whileStopped(damage);
      const upgraded = await other.replace('11.8');
      expect(upgraded.status, upgraded.message).toBe(0);
      await other.restore('latest', 'no');
      expect(await contentOf(other)).toEqual(present);
    },
  );
});

/** The checksum of a table with a generated column depends on the series. */
async function contentOf(other: BackupScene) {
  const sums = (await other.checksums()).split('\n').filter((line) => !line.startsWith('twice\t'));
  return [sums, await other.sql('SELECT * FROM twice')];
}
