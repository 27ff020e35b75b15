import { chmod, chown, readdir, readFile, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { HostFolder } from '../../../test/fixtures/host-folder.ts';
import type { FileChange, FileChanges } from '../planning/unit.ts';
import { commitFiles, restoreFiles, settleFiles, stageFiles } from './disk.ts';

let host: HostFolder;
beforeEach(async () => {
  host = await HostFolder.make('etc/scripts');
});
afterEach(() => host[Symbol.asyncDispose]());

const path = '/etc/scripts/ifcfg-ens4';
const edit: FileChange = {
  path,
  before: 'old',
  after: 'edited',
  mode: 0o664,
  changed: true,
  foreign: 'edit',
};
const { foreign: _, ...own } = edit;
const files: FileChanges = {
  companions: [edit],
  commit: { ...own, path: '/etc/scripts/ifcfg-multinic0', before: null, after: 'ours' },
  obsolete: [],
};
const real = () => join(host.path, 'ifcfg-ens4');

describe('the edit of a foreign file', () => {
  test('keeps owner and mode, and the original stays in a folder of the agent', async () => {
    await host.put('ifcfg-ens4', 'old');
    await chmod(real(), 0o664);
    const owner = process.getuid?.() === 0 ? 7 : (process.getuid?.() ?? 0);
    await chown(real(), owner, owner);
    await stageFiles(files, host.disk);
    await commitFiles(files, host.disk);
    await settleFiles(files, host.disk);
    expect(await host.files()).toEqual({ 'ifcfg-ens4': 'edited', 'ifcfg-multinic0': 'ours' });
    expect(await stat(real())).toMatchObject({ mode: 0o100664, uid: owner, gid: owner });
    const folder = join(host.disk.hostRoot, 'var/lib/multinic/adopted');
    const [name = ''] = await readdir(folder);
    expect([name, await readFile(join(folder, name), 'utf8')]).toEqual([
      expect.stringMatching(/^ifcfg-ens4\./),
      'old',
    ]);
    expect(await readdir(host.path)).not.toContain('backup');
  });

  test('fails if cloud-init renders the file meanwhile, and the rendered file stays', async () => {
    await host.put('ifcfg-ens4', 'old');
    await stageFiles(files, host.disk);
    await host.put('ifcfg-ens4', 'rendered');
    await expect(commitFiles(files, host.disk)).rejects.toThrow(`${path} has changed meanwhile`);
    await restoreFiles(files, host.disk);
    expect(await host.files()).toEqual({ 'ifcfg-ens4': 'rendered' });
  });

  test('fails for a link', async () => {
    await host.put('target', 'old');
    await symlink('target', real());
    await expect(stageFiles(files, host.disk)).rejects.toThrow(`${path} is not a regular file`);
  });
});
