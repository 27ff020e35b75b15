import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  entry,
  host,
  input,
  link,
  macOf,
  neighbour,
  route,
} from '../../../test/fixtures/agent-samples.ts';
import { planApply } from '../planning/plan.ts';
import type { Disk } from './disk.ts';
import {
  readJournals,
  removeJournal,
  syncJournals,
  UnknownStateError,
  writeJournal,
} from './memory.ts';

let disk: Disk;
beforeEach(async () => {
  disk = {
    hostRoot: await mkdtemp(join(tmpdir(), 'multinic-journal-')),
    perform: async (_, write) => write(),
  };
});
afterEach(() => rm(disk.hostRoot, { recursive: true }));

const run = { fence: { uid: 'a', generation: 3 }, bootId: 'boot' };
const { units } = planApply(input([entry(2), entry(1)], host([link(1), link(2)])));

describe('journal', () => {
  test('readJournals returns all data for finishing or rolling back, in index order', async () => {
    for (const unit of units) await writeJournal(unit, [], { ...disk, run });
    await syncJournals(disk);
    const entries = readJournals(disk.hostRoot);
    expect(entries.map(({ index, mac }) => [index, mac])).toEqual([
      [0, macOf(1)],
      [1, macOf(2)],
    ]);
    const [second] = units;
    expect(entries[1]).toMatchObject({
      version: 2,
      step: 'apply',
      ...run,
      before: second?.before,
      after: second?.after,
      files: second?.files,
      record: second?.record,
    });
    expect(entries[1]?.ops[0]).toBe('link set dev ens2 name multinic1');
  });

  test('writeJournal limits foreign routes to 256', async () => {
    const [unit] = units;
    if (!unit) throw new Error('nothing is planned');
    const routes = Array.from({ length: 300 }, (_, n) =>
      route(`10.${n % 256}.0.0/16`, 'ens1', { metric: n, via: '10.0.0.9', src: '10.9.9.9' }),
    );
    await writeJournal(unit, routes, { ...disk, run });
    const [written] = readJournals(disk.hostRoot);
    expect(written?.others).toEqual({ routes: routes.slice(0, 256) });
  });

  test('readJournals is empty on a new host, and after all journals were removed', async () => {
    expect(readJournals(disk.hostRoot)).toEqual([]);
    for (const unit of units) await writeJournal(unit, [], { ...disk, run });
    for (const { index } of units) await removeJournal(index, disk);
    await removeJournal(0, disk);
    expect(readJournals(disk.hostRoot)).toEqual([]);
  });

  test('readJournals ignores a partly written journal', async () => {
    const directory = join(disk.hostRoot, 'var/lib/multinic/journal');
    await mkdir(directory, { recursive: true });
    await writeFile(join(directory, '0.json.new'), '{"vers');
    expect(readJournals(disk.hostRoot)).toEqual([]);
    const [, first] = units;
    if (first) await writeJournal(first, [], { ...disk, run });
    expect(await readdir(directory)).toEqual(['0.json']);
  });

  test('readJournals converts a version 1 journal with a single file', async () => {
    const [unit] = units;
    if (!unit) throw new Error('no unit');
    await writeJournal(unit, [], { ...disk, run });
    const path = join(disk.hostRoot, `var/lib/multinic/journal/${unit.index}.json`);
    const { mode: _, ...commit } = unit.files.commit;
    const old = { path: '/etc/netplan/97-multinic7.yaml', before: 'old', after: null };
    const obsolete = { ...old, changed: true };
    const newer = JSON.parse(await readFile(path, 'utf8')) as object;
    const { tables, ips } = unit.nic.belongings;
    const others = { addresses: [], routes: [], neighbours: [neighbour('ens1', '10.9.0.1')] };
    const former = { version: 1, belongings: { tables, ips }, files: [commit, obsolete], others };
    await writeFile(path, JSON.stringify({ ...newer, ...former }));
    const [read] = readJournals(disk.hostRoot);
    expect(read?.belongings).toEqual({ tables, ips, routes: [], rules: ['10.0.0.2 table 101'] });
    expect(read?.others).toEqual({ routes: [] });
    expect(read?.files).toEqual({
      companions: [],
      commit: unit.files.commit,
      obsolete: [{ ...obsolete, mode: 0o600 }],
    });
  });

  test('writeJournal uses a version refused by earlier agents without support for the change', async () => {
    const [unit] = units;
    if (!unit) throw new Error('no unit');
    const path = join(disk.hostRoot, `var/lib/multinic/journal/${unit.index}.json`);
    const { commit } = unit.files;
    const interim = [{ ...commit, path: `${commit.path}-next` }];
    const nic = { ...unit.nic, rulesOnly: true } as const;
    for (const [asked, version] of [
      [unit, 2],
      [{ ...unit, files: { ...unit.files, interim } }, 3],
      [{ ...unit, nic }, 3],
      [{ ...unit, nic: { ...unit.nic, belongings: { ...unit.nic.belongings, rules: [] } } }, 4],
    ] as const) {
      await writeJournal(asked, [], { ...disk, run });
      expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({ version });
      const [read] = readJournals(disk.hostRoot);
      expect(read?.files).toEqual(asked.files);
      expect(read?.belongings).toEqual(asked.nic.belongings);
      expect(read?.rulesOnly).toBe(asked.nic.rulesOnly);
    }
  });

  test('readJournals derives rules for a version 3 journal, without rules in `except`', async () => {
    const [unit] = units;
    if (!unit) throw new Error('no unit');
    await writeJournal(unit, [], { ...disk, run });
    const path = join(disk.hostRoot, `var/lib/multinic/journal/${unit.index}.json`);
    const newer = JSON.parse(await readFile(path, 'utf8')) as object;
    const former = { tables: [100, 101], ips: ['10.0.0.2', 'fd00::2'], routes: [] };
    const except = ['10.0.0.2 table 100'];
    await writeFile(
      path,
      JSON.stringify({ ...newer, version: 3, belongings: { ...former, except } }),
    );
    const rules = ['fd00::2 table 100', '10.0.0.2 table 101', 'fd00::2 table 101'];
    expect(readJournals(disk.hostRoot)[0]?.belongings).toEqual({ ...former, rules });
  });

  test("readJournals refuses a newer agent's journal", async () => {
    const directory = join(disk.hostRoot, 'var/lib/multinic/journal');
    await mkdir(directory, { recursive: true });
    await writeFile(join(directory, '0.json'), '{"version": 7}');
    expect(() => readJournals(disk.hostRoot)).toThrow(UnknownStateError);
  });
});
