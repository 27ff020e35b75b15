import { describe, expect, test } from 'vitest';
import { host, macOf } from '../../../test/beds/agent-samples.ts';
import type { RenderedFile } from '../backends/backend.ts';
import type { ConfigFile } from '../snapshot.ts';
import { inOrder, removeChanges, writeChanges } from './unit.ts';

const name = rendered('/etc/systemd/network/90-multinic0.link', 'the name');
const main = rendered('/etc/systemd/network/90-multinic0.network', 'the addresses');

function rendered(path: string, text: string): RenderedFile {
  return { path, text, mode: 0o644 };
}

function there({ path, text, mode }: RenderedFile): ConfigFile {
  return { path, text, mode, own: { mac: macOf(1), index: 0, addresses: [] }, macs: [macOf(1)] };
}

function written(files: readonly ConfigFile[], taken: readonly string[] = []) {
  const on = host([], { files });
  return writeChanges(on, macOf(1), { companions: [name], main }, new Set(taken));
}

describe('files of a NIC', () => {
  test('are written in their order, and the addresses decide', () => {
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

  test('of which one beside the addresses alone changes are committed by that one', () => {
    const changes = written([there(main), there({ ...name, text: 'another name' })]);
    expect(changes.commit).toMatchObject({ path: name.path, before: 'another name' });
    expect(changes.companions).toMatchObject([{ path: main.path, changed: false }]);
  });

  test('that are as they shall be are no change', () => {
    const changes = written([there(main), there(name)]);
    expect(inOrder(changes).map(({ changed }) => changed)).toEqual([false, false]);
    expect(changes.commit.path).toBe(main.path);
  });

  test.each([
    ['text', { ...name, text: 'another name' }],
    ['mode', { ...name, mode: 0o600 }],
  ])('with another %s are written again', (_, other) => {
    expect(written([there(main), there(other)]).commit).toMatchObject({ changed: true });
  });

  test('of earlier generations go, but for those whose path another NIC takes', () => {
    const old = rendered('/etc/netplan/90-multinic0.yaml', 'old');
    const moved = rendered('/etc/netplan/91-multinic1.yaml', 'moved');
    expect(written([there(old), there(moved)], [moved.path]).obsolete).toEqual([
      { path: old.path, before: 'old', after: null, mode: 0o644, changed: true },
    ]);
  });

  test('go with the addresses first', () => {
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
