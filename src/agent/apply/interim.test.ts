import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { HostFolder } from '../../../test/fixtures/host-folder.ts';
import type { FileChange, FileChanges } from '../planning/unit.ts';
import {
  commitFiles,
  type DatedDisk,
  finishFiles,
  isCommitted,
  restoreFiles,
  settleFiles,
  stageFiles,
} from './disk.ts';
import { inReachOf } from './reach.ts';

let host: HostFolder;
let disk: DatedDisk;
let directory: string;
beforeEach(async () => {
  host = await HostFolder.make('etc/scripts');
  ({ disk, path: directory } = host);
  for (const [name, text] of Object.entries(oldApart)) await put(name, text);
});
afterEach(() => host[Symbol.asyncDispose]());

const put = (name: string, text: string) => host.put(name, text);
const files = () => host.files();

function change(before: string | null, after: string | null, name: string): FileChange {
  return { path: `/etc/scripts/${name}`, before, after, mode: 0o600, changed: true };
}

/** Profile with new routes in separate files, with placeholder files meanwhile. */
const apart: FileChanges = {
  interim: [change(null, 'new', 'routes-next'), change(null, 'new', 'profile-next')],
  companions: [change('old', 'new', 'routes')],
  commit: change('old', 'new', 'profile'),
  obsolete: [change('old', null, 'routes6')],
};
const oldApart = { profile: 'old', routes: 'old', routes6: 'old' };
const newApart = { profile: 'new', routes: 'new' };

/** Configuration at boot by earlier agents' ranking: profile and placeholder rank equally. */
async function profileOfEarlierAgent(): Promise<Record<string, string>> {
  const all = await files();
  if (all['profile'] !== 'old') return profile();
  const found = Object.entries(all).filter(([name]) => /^\w+$/.test(name));
  return Object.fromEntries(found);
}

/** Configuration NetworkManager would use at boot. */
async function profile(): Promise<Record<string, string>> {
  const all = await files();
  const standIns = 'profile-next' in all;
  const found = Object.entries(all).filter(
    ([name]) => !name.startsWith('.') && name.endsWith('-next') === standIns,
  );
  return Object.fromEntries(found.map(([name, text]) => [name.replace('-next', ''), text]));
}

async function expectWhole(seen: readonly object[]): Promise<void> {
  const now = [await profile(), await profileOfEarlierAgent()];
  for (const each of [...seen, ...now]) expect([oldApart, newApart]).toContainEqual(each);
}

/** Full disk: files can only be removed. */
function noWrites({ perform }: DatedDisk): DatedDisk['perform'] {
  return (effect, write) => {
    if (effect === 'agent.file.commit') throw new Error('ENOSPC');
    return perform(effect, write);
  };
}

describe('several boot files with placeholders', () => {
  class PowerCut extends Error {}

  const onlyPowerCut = (error: unknown) => expect(error).toBeInstanceOf(PowerCut);

  /** Disk of a host losing power before or after step `at`, with all configurations a boot would have used. */
  function goingDown(at: number, when: 'before' | 'after') {
    const seen: object[] = [];
    let steps = 0;
    const watched: DatedDisk = {
      ...disk,
      perform: async (_, write) => {
        steps += 1;
        if (steps === at && when === 'before') throw new PowerCut();
        const done = await write();
        seen.push(await profile(), await profileOfEarlierAgent());
        if (steps === at) throw new PowerCut();
        return done;
      },
    };
    return { watched, seen };
  }

  const moments = Array.from({ length: 18 }, (_, at) => at + 1).flatMap((at) =>
    (['before', 'after'] as const).map((when) => [when, at] as const),
  );

  test.each(moments)(
    'boot files are all old or all new after a power cut %s step %i',
    async (when, at) => {
      const { watched, seen } = goingDown(at, when);
      await stageFiles(apart, watched)
        .then(() => commitFiles(apart, watched))
        .then(() => settleFiles(apart, watched))
        .catch(onlyPowerCut);
      await expectWhole(seen);
      const committed = isCommitted(apart, disk);
      expect(await profile()).toEqual(committed ? newApart : oldApart);
      const later = goingDown(Number.POSITIVE_INFINITY, 'after');
      const end = committed ? finishFiles : restoreFiles;
      await end(apart, later.watched);
      await expectWhole(later.seen);
      expect(await files()).toEqual(committed ? newApart : oldApart);
    },
  );

  test.each(moments)(
    'boot files are all old or all new after a power cut %s step %i in the rollback',
    async (when, at) => {
      await stageFiles(apart, disk);
      await commitFiles(apart, disk);
      const { watched, seen } = goingDown(at, when);
      await restoreFiles(apart, watched).catch(onlyPowerCut);
      await expectWhole(seen);
      await (isCommitted(apart, disk) ? finishFiles : restoreFiles)(apart, disk);
      await expectWhole([]);
    },
  );

  test('finishFiles writes boot files again if staged files are missing', async () => {
    await stageFiles(apart, disk);
    for (const name of ['routes-next', 'profile-next']) await put(name, 'new');
    for (const name of ['routes', 'profile']) await rm(join(directory, `.${name}.multinic-new`));
    await finishFiles(apart, disk);
    expect(await files()).toEqual(newApart);
  });

  test('finishFiles and restoreFiles write only under hidden names', async () => {
    await stageFiles(apart, disk);
    for (const name of ['routes-next', 'profile-next']) await put(name, 'new');
    for (const name of ['routes', 'profile']) await rm(join(directory, `.${name}.multinic-new`));
    // NetworkManager would read a power cut's leftover as another profile.
    await put('profile.new', 'theirs');
    await finishFiles(apart, disk);
    expect(await files()).toEqual({ ...newApart, 'profile.new': 'theirs' });
    for (const name of ['routes', 'profile']) await put(name, 'new');
    await restoreFiles(apart, disk);
    expect(await files()).toEqual({ ...oldApart, 'profile.new': 'theirs' });
  });

  test('finishFiles completes a change not yet begun, with placeholders, and repeats without writes', async () => {
    const { watched, seen } = goingDown(Number.POSITIVE_INFINITY, 'after');
    await finishFiles(apart, watched);
    await expectWhole(seen);
    expect(await files()).toEqual(newApart);
    await finishFiles(apart, { ...watched, perform: noWrites(watched) });
    expect(await files()).toEqual(newApart);
  });

  test('unreachable placeholder files are left alone', async () => {
    const away = { ...change('left', 'new', 'profile-next'), path: '/etc/away/profile-next' };
    const reach = inReachOf({ ...apart, interim: [away] }, disk.hostRoot);
    expect(reach.left).toEqual([away.path]);
    expect(reach.files.interim).toEqual([{ ...away, changed: false }]);
    const halfAway = reach.files;
    await stageFiles(halfAway, disk);
    await expect(restoreFiles(halfAway, disk)).resolves.toBeUndefined();
    await expect(finishFiles(halfAway, disk)).resolves.toEqual([]);
  });

  test('finishFiles keeps boot files rewritten by foreign software', async () => {
    await stageFiles(apart, disk);
    await put('routes', 'theirs');
    await put('routes-next', 'theirs');
    await put('profile-next', 'new');
    await finishFiles(apart, disk);
    expect(await files()).toEqual({ ...newApart, routes: 'theirs', 'routes-next': 'theirs' });
  });
});
