import { describe, expect, test } from 'vitest';
import { host, macOf } from '../../../test/fixtures/agent-samples.ts';
import type { ConfigFile } from '../snapshot.ts';
import type { RenderedFile } from './backend.ts';
import { inOrder, removeChanges, unitLines, writeChanges } from './unit.ts';

const name = rendered('/etc/systemd/network/90-multinic0.link', 'the name');
const main = rendered('/etc/systemd/network/90-multinic0.network', 'the addresses');

const none: ReadonlySet<string> = new Set();

function rendered(path: string, text: string): RenderedFile {
  return { path, text, mode: 0o644 };
}

function there({ path, text, mode }: RenderedFile): ConfigFile {
  return { path, text, mode, own: { mac: macOf(1), index: 0, addresses: [] }, macs: [macOf(1)] };
}

function old(file: RenderedFile): ConfigFile {
  return { ...there(file), text: 'old' };
}

function written(files: readonly ConfigFile[], taken: readonly string[] = []) {
  const on = host([], { files });
  return writeChanges(on, macOf(1), { companions: [name], main }, new Set(taken));
}

describe('NIC file changes', () => {
  test('new files are written in order, committed by the address file', () => {
    const changes = written([]);
    expect(inOrder(changes).map(({ path }) => path)).toEqual([name.path, main.path]);
    expect(changes.commit).toEqual({
      path: main.path,
      before: null,
      after: main.text,
      mode: 0o644,
      changed: true,
    });
  });

  test('a single changed file is the commit file', () => {
    const changes = written([there(main), there({ ...name, text: 'another name' })]);
    expect(changes.commit).toMatchObject({ path: name.path, before: 'another name' });
    expect(changes.companions).toMatchObject([{ path: main.path, changed: false }]);
  });

  test('correct files are no change', () => {
    const changes = written([there(main), there(name)]);
    expect(inOrder(changes).map(({ changed }) => changed)).toEqual([false, false]);
    expect(changes.commit.path).toBe(main.path);
  });

  test.each([
    ['text', { ...name, text: 'another name' }],
    ['mode', { ...name, mode: 0o600 }],
  ])('a file with a different %s is rewritten', (_, other) => {
    expect(written([there(main), there(other)]).commit).toMatchObject({ changed: true });
  });

  test('files from earlier generations are removed, unless another NIC takes the path', () => {
    const former = rendered('/etc/netplan/90-multinic0.yaml', 'old');
    const moved = rendered('/etc/netplan/91-multinic1.yaml', 'moved');
    expect(written([there(former), there(moved)], [moved.path]).obsolete).toEqual([
      { path: former.path, before: 'old', after: null, mode: 0o644, changed: true },
    ]);
  });

  describe('several boot files per NIC', () => {
    const profile = rendered('/etc/scripts/profile', 'the addresses');
    const routes = rendered('/etc/scripts/routes', 'routes');
    const names = (...has: ReturnType<typeof there>[]) => {
      const interim = [routes, profile].map((file) => ({ ...file, path: `${file.path}-next` }));
      const on = host([], { files: has });
      const files = writeChanges(
        on,
        macOf(1),
        { companions: [name, routes], main: profile, interim },
        none,
      );
      return files.interim?.map(({ path, before, after }) => [path, before, after]);
    };
    const standIns = [
      [`${routes.path}-next`, null, 'routes'],
      [`${profile.path}-next`, null, profile.text],
    ];

    test('placeholder files are used while several boot files are replaced', () => {
      expect(names(there(name), old(routes), old(profile))).toEqual(standIns);
      expect(names(there(name), old(profile))).toEqual(standIns);
      const gone = rendered('/etc/scripts/routes6', 'routes');
      expect(names(there(name), there(routes), old(profile), there(gone))).toEqual(standIns);
    });

    test('no placeholder files are used if one file is replaced or all are new', () => {
      expect(names()).toBeUndefined();
      expect(names(there(name))).toBeUndefined();
      expect(names(there(name), there(routes), old(profile))).toBeUndefined();
      expect(names(old(name), there(routes), old(profile))).toBeUndefined();
      expect(names(there(name), old(routes), there(profile))).toBeUndefined();
      expect(names(there(name), there(routes), there(profile))).toBeUndefined();
    });

    test('unitLines lists boot files, and placeholder files only as removals', () => {
      const left = rendered(`${profile.path}-next`, 'left');
      const interim = [routes, profile].map((file) => ({ ...file, path: `${file.path}-next` }));
      const on = host([], { files: [old(routes), old(profile), there(left)] });
      const all = { companions: [routes], main: profile, interim };
      const files = writeChanges(on, macOf(1), all, none);
      expect(unitLines({ change: { sysctls: [], operations: [] }, files })).toEqual([
        `replace ${routes.path}`,
        `replace ${profile.path}`,
        `remove ${left.path}`,
      ]);
    });

    test('leftover placeholder files are removed', () => {
      const left = rendered(`${profile.path}-next`, 'left');
      const on = host([], { files: [there(name), there(routes), old(profile), there(left)] });
      const rest = { companions: [name, routes], main: profile };
      expect(writeChanges(on, macOf(1), rest, none).obsolete).toMatchObject([{ path: left.path }]);
      const interim = [{ ...profile, path: left.path }];
      const files = writeChanges(on, macOf(1), { ...rest, interim }, none);
      expect(files.obsolete).toEqual([]);
      expect(files.interim).toMatchObject([{ before: 'left', after: profile.text }]);
    });
  });

  test('removeChanges removes the address file first', () => {
    const on = host([], { files: [there(name), there(main)] });
    const { commit, companions, obsolete } = removeChanges(on, macOf(1), main.path);
    expect([commit, ...obsolete].map(({ path }) => path)).toEqual([main.path, name.path]);
    expect(companions).toEqual([]);
    expect(removeChanges(host([]), macOf(1), main.path).commit).toMatchObject({
      path: main.path,
      changed: false,
    });
  });
});
