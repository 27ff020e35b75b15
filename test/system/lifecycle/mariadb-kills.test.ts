import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { backupScript } from '../../../src/lifecycle/stages/backup/script.ts';
import { inTurn, sampleOf } from '../../rotation.ts';
import {
  type BackupScene,
  change,
  isWhole,
  killedAfter,
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

const act = inTurn('kills of restores', 2, (title: string, test: () => Promise<void>) =>
  it(title, test),
);

/** Steps of a load, in order. */
const loadSteps =
  'choose check_text check_series check_references take_back check_size start_scratch try_file dump_safety copy_to_server prepare_programs verify_safety'.split(
    ' ',
  );
const stepsOfRun = isWhole ? loadSteps : sampleOf(loadSteps, 1);

describe('kills', () => {
  it.each(stepsOfRun)(
    'a load killed after %s leaves the live data, and the next load starts again',
    async (step) => {
      await scene.sql(change);
      const present = await state();
      const killed = await load(file, {}, { script: killedAfter('load', step) });
      expect(killed).toMatchObject({ status: 137, message: '' });
      expect(await state()).toEqual(present);
      const swapped = await scene.work({ TASK: 'swap' });
      // Until then the answer of an earlier restore is stored.
      const hasForgotten = loadSteps.indexOf(step) >= loadSteps.indexOf('start_scratch');
      if (hasForgotten) refused(swapped, /^there is no loaded copy .*nothing was changed$/);
      expect(await state()).toEqual(present);
      await scene.restore(file, 'no');
      expect(await state()).toEqual(before);
    },
  );

  it('a swap killed after each step ends forward with complete data', async () => {
    await scene.sql(change);
    const old = await scene.checksums();
    expect((await load(file)).status).toBe(0);
    for (const step of ['drop_damaged', 'drop_programs', 'free_names', 'create_schemas']) {
      const killed = await scene.work({ TASK: 'swap' }, { script: killedAfter('swap', step) });
      expect(killed, step).toMatchObject({ status: 137 });
      expect(await scene.checksums(), step).toBe(old);
    }
    refused(
      await scene.work({}),
      /^the restore of multinic-\S+\.sql has not ended, .* a dump would lack them; run/,
    );
    const steps = ['exchange_tables', 'count_live', 'create_programs', 'forget_copy'];
    for (const step of steps) {
      const killed = await scene.work({ TASK: 'swap' }, { script: killedAfter('swap', step) });
      expect(killed, step).toMatchObject({ status: 137 });
      expect(await scene.checksums(), step).toBe(before.checksums);
      expect(await scene.checksums('multinic_before_restore'), step).toBe(old);
    }
    const { status, message } = await scene.work({ TASK: 'swap' });
    expect(status, message).toBe(0);
    expect(JSON.parse(message)).toMatchObject({ file, rows: rows + 15 });
    expect(await state()).toEqual(before);
  });

  it('an undo with a swap killed after it dropped triggers can be undone itself', async () => {
    const mark = (text: string) =>
      scene.sql(`UPDATE node_config SET note = '${text}' WHERE id = 1`);
    const marked = () => scene.sql('SELECT note FROM node_config WHERE id = 1');
    await mark('good');
    await scene.restore(file);
    await mark('later');
    expect((await load('before-restore')).status).toBe(0);
    for (const step of ['drop_programs', 'create_schemas']) {
      const killed = await scene.work({ TASK: 'swap' }, { script: killedAfter('swap', step) });
      expect(killed, step).toMatchObject({ status: 137 });
    }
    expect((await scene.work({ TASK: 'swap' })).status).toBe(0);
    expect(await marked()).toBe('good');
    await scene.restore('before-restore');
    expect(await marked()).toBe('later');
    await scene.restore(file, 'no');
    expect(await state()).toEqual(before);
  });

  act('a load that is stopped early reports this, and drops its copy', async () => {
    const slow = edited('  patiently check_copy', '  patiently sleep 30\n  patiently check_copy');
    const script = `(sleep 3; kill -TERM $$) &\n${slow}`;
    refused(
      await load(file, { SAFETY: 'no' }, { script }),
      /^load was stopped early: its time passed, or the Job was deleted; nothing was changed$/,
    );
    expect(await scene.sql('SHOW DATABASES')).not.toContain('multinic_restore');
  });

  act('a load fails and the live data stay when MariaDB restarts in the middle', async () => {
    const slow = edited('  patiently copy_tables', '  sleep 3\n  patiently copy_tables');
    const present = await state();
    const loading = load(file, { SAFETY: 'no' }, { script: slow });
    const copy = join(scene.pod.folder, 'var/lib/mysql/multinic_restore/db.opt');
    while (!existsSync(copy)) await new Promise((resolve) => setTimeout(resolve, 20));
    await scene.whileStopped(() => undefined, 'SIGKILL', 4000);
    refused(
      await loading,
      /^the tables of .* cannot be loaded into schema multinic_restore: .*; nothing was changed$/,
    );
    expect(await state()).toEqual(present);
  });

  act(
    'a swap moves the former tables back when the statement fails in InnoDB, which MariaDB does not undo',
    async () => {
      await scene.sql(change);
      expect((await load(file)).status).toBe(0);
      await scene.whileStopped((folder) => rmSync(join(folder, 'twice.frm')));
      const old = await scene.checksums();
      const failing = await scene.work(
        { TASK: 'swap' },
        { script: edited('    free_names ||', '    : ||') },
      );
      refused(
        failing,
        /^the tables cannot be exchanged: ERROR 1050 .*; the former tables are live/,
      );
      expect(await scene.checksums()).toBe(old);

      const undone = edited('  take_back\n  fail', '  kill -9 $$\n  fail').replace(
        '    free_names ||',
        '    : ||',
      );
      expect(await scene.work({ TASK: 'swap' }, { script: undone })).toMatchObject({ status: 137 });
      expect(await scene.checksums()).not.toBe(old);
      const { status, message } = await scene.work({ TASK: 'swap' });
      expect(status, message).toBe(0);
      expect(await state()).toEqual(before);
      expect(await scene.checksums('multinic_before_restore')).toBe(old);

      await scene.whileStopped((folder) => rmSync(join(folder, 'twice.frm')));
      expect((await load(file, { SAFETY: 'no' })).status).toBe(0);
      expect(await scene.work({ TASK: 'swap' }, { script: undone })).toMatchObject({ status: 137 });
      await scene.restore(file, 'no');
      expect(await state()).toEqual(before);
    },
  );

  act('MariaDB killed while the tables are exchanged has all old or all new tables', async () => {
    const many = Array.from({ length: 60 }, (_, index) => `CREATE TABLE t${index} (id INT)`);
    await scene.sql(many.join(';'));
    const wide = await scene.backup();
    expect((await load(wide.file)).status).toBe(0);
    const present = await scene.checksums();
    const swapping = scene.work({ TASK: 'swap' });
    const data = join(scene.pod.folder, 'var/lib/mysql');
    while (!existsSync(join(data, 'multinic_before_restore/t10.frm'))) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await scene.whileStopped(() => undefined, 'SIGKILL');
    const first = await swapping;
    expect(await scene.checksums(), first.message).toBe(present);
    const { status, message } = await scene.work({ TASK: 'swap' });
    expect(status, message).toBe(0);
    expect(await scene.checksums()).toBe(present);
    await scene.restore(file, 'no');
    rmSync(join(scene.pod.folder, 'backup', wide.file));
    expect(await state()).toEqual(before);
  });
});

function edited(text: string, other: string): string {
  const script = backupScript.replace(text, () => other);
  if (script === backupScript) throw new Error(`the script has no "${text}"`);
  return script;
}
