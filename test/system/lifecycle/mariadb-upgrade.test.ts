import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { rootOf } from '../../../rig/mariadb-image/root.ts';
import { refusals } from '../../../src/lifecycle/model/mariadb/prepare-statuses.ts';
import { prepareData } from '../../../src/lifecycle/stages/database/prepare-data.ts';
import { server } from '../../../src/lifecycle/stages/database/stateful-set.ts';
import { checkImage } from '../../../src/lifecycle/stages/operation/check-image.ts';
import { isWhole } from './backup-scene.ts';
import { type MariadbPod, mariadbPod, stopped } from './mariadb-pod.ts';

const login = {
  rootPassword: 'root-1',
  password: 'user-1',
  database: 'multinic',
  user: 'multinic',
  salt: 'salt',
  backupPassword: 'backup-1',
};
const rows = 1000;

let older: string;
let newer: string;
/** Before the upgrade. */
let sums: string;

beforeAll(async () => {
  [older, newer] = await Promise.all([rootOf('10.11'), rootOf('11.8')]);
});

const prepare = (text = prepareData) => ['sh', '-c', text];

/** Returns the script with a change at the start of mariadb-upgrade, or of the required server. */
function broken(by: string, at = 'mariadb-upgrade --no-defaults'): string[] {
  const text = prepareData.replace(at, () => by);
  expect(text).not.toBe(prepareData);
  return prepare(text);
}

/** A stopped Pod with 10.11 and data. */
async function populated(): Promise<MariadbPod> {
  const pod = await mariadbPod(mkdtempSync(join(tmpdir(), 'multinic-mariadb-')));
  await pod.login(login);
  expect(await pod.run(older, prepare())).toMatchObject({ status: 0 });
  const serving = await pod.serve(older, server);
  const table = 'CREATE TABLE nic (id INT PRIMARY KEY); CREATE TABLE note (id INT)';
  await pod.sql(
    older,
    login,
    `${table}; INSERT INTO nic SELECT seq FROM seq_1_to_${rows}; INSERT INTO note VALUES (7)`,
  );
  sums = await sumsOf(pod, older);
  expect(sums).toMatch(new RegExp(`^${rows} `));
  await stopped(serving);
  return pod;
}

/** Checksums of all non-empty tables. */
const sumsOf = async (pod: MariadbPod, root: string) => {
  const count = await pod.sql(root, login, 'SELECT COUNT(*) FROM nic');
  return `${count} ${await pod.sql(root, login, 'CHECKSUM TABLE nic, note')}`;
};

const markOf = (pod: MariadbPod) =>
  readFileSync(join(pod.folder, 'var/lib/mysql/.multinic-opened-by'), 'utf8').trim();

/** An upgrade with the script text `at` replaced. */
interface Interruption {
  readonly what: string;
  readonly status: number;
  readonly by: string;
  readonly at?: string;
}

const interruptions: readonly Interruption[] = [
  { what: 'was killed', status: 137, by: 'kill -9 $$; mariadb-upgrade' },
  { what: 'failed', status: refusals.upgradeFailed, by: 'false' },
];
const start = 'mariadbd --no-defaults --datadir=$data --socket=/run/mysqld/upgrade.sock';
const end = 'kill $server\nwait $server || true\nfinish';
/** Kills at the remaining script steps. */
const further: readonly Interruption[] = [
  { what: 'was killed after the mark', by: `kill -9 $$\n${start}`, at: start, status: 137 },
  {
    what: 'was killed while the server opened the files',
    by: 'sleep 0.4; kill -9 $$; sleep',
    at: 'sleep 0.2',
    status: 137,
  },
  { what: 'was killed after mariadb-upgrade', by: `kill -9 $$\n${end}`, at: end, status: 137 },
  {
    what: 'was killed before the second mark',
    by: end.replace('finish', () => 'kill -9 $$'),
    at: end,
    status: 137,
  },
];

it.each([...interruptions, ...(isWhole ? further : [])])(
  '10.11 never opens data from an upgrade to 11.8 that $what, and 11.8 completes the upgrade',
  async ({ status, by, at }) => {
    await using pod = await populated();
    expect(markOf(pod)).toMatch(/^10\.11\./);
    const first = await pod.run(newer, broken(by, at));
    expect(first.status, first.log).toBe(status);
    expect(markOf(pod)).toMatch(/^11\.8\./);

    const back = await pod.run(older, prepare());
    expect(back.status, back.log).toBe(refusals.newerData);
    expect(back.message).toMatch(
      /^MariaDB 11\.8\.\d+ has opened the data .*set spec\.database\.image/,
    );

    expect(await pod.run(newer, prepare())).toMatchObject({ status: 0 });
    await pod.serve(newer, server);
    expect(await sumsOf(pod, newer)).toBe(sums);
  },
);

it('10.11 serves its data again after 11.8 refused to open an unclean log', async () => {
  await using pod = await populated();
  const refuses = `sh -c 'echo "[ERROR] InnoDB: Upgrade after a crash is not supported"; exit 1' --`;
  const refused = await pod.run(newer, broken(refuses, 'mariadbd --no-defaults --datadir=$data'));
  expect(refused.status, refused.log).toBe(refusals.openRefused);
  expect(refused.message).toContain('has not changed it');
  expect(markOf(pod)).toMatch(/^10\.11\./);
  expect(await pod.run(older, prepare())).toMatchObject({ status: 0 });
  await pod.serve(older, server);
  expect(await sumsOf(pod, older)).toBe(sums);
});

const check = (...words: readonly string[]) => ['sh', '-c', checkImage, 'check', ...words];

it('the check of an image accepts 11.8 and names missing programs and unknown options', async () => {
  await using pod = await mariadbPod(mkdtempSync(join(tmpdir(), 'multinic-mariadb-')));
  const good = await pod.run(newer, check(...server));
  expect(good, good.log).toMatchObject({ status: 0 });
  expect(good.message).toMatch(/^\{"version": "11\.8\.\d+"\}$/);
  const unknown = await pod.run(newer, check(...server, '--no-such-option=1'));
  expect(unknown.status).toBe(1);
  expect(unknown.message).toMatch(/does not accept the options .*no-such-option/);
  const none = await pod.run(newer, ['env', 'PATH=/usr/sbin', '/bin/sh', '-c', checkImage]);
  expect(none.status).toBe(refusals.missingPrograms);
});
