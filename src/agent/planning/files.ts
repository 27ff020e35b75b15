import type { RenderedFile } from '../backends/backend.ts';
import type { ConfigFile, Host } from '../host.ts';
import type { FileChange } from './unit.ts';

/** Netplan warns about, and NetworkManager ignores, a file that others can read. */
export const fileMode = 0o600;

/**
 * Changes of files that leave a NIC with exactly this one; those of earlier generations go. `taken` are the paths that
 * other NICs of the same plan write to.
 */
export function writeChanges(
  host: Host,
  mac: string,
  { path, text }: RenderedFile,
  taken: ReadonlySet<string>,
): [FileChange, ...FileChange[]] {
  const there = host.files.find((file) => file.path === path);
  const changed = there?.text !== text || there.mode !== fileMode;
  const others = ownFiles(host, mac).filter((file) => !taken.has(file.path) && file.path !== path);
  return [{ path, before: there?.text ?? null, after: text, changed }, ...others.map(removal)];
}

/** Changes of files that leave a NIC with none; `path` stands for its file when there is none. */
export function removeChanges(
  host: Host,
  mac: string,
  path: string,
): [FileChange, ...FileChange[]] {
  const files = ownFiles(host, mac).toSorted(
    (a, b) => Number(b.path === path) - Number(a.path === path),
  );
  const [main, ...others] = files.map(removal);
  return [main ?? { path, before: null, after: null, changed: false }, ...others];
}

function ownFiles(host: Host, mac: string): ConfigFile[] {
  return host.files.filter(({ own }) => own?.mac === mac);
}

function removal({ path, text }: ConfigFile): FileChange {
  return { path, before: text, after: null, changed: true };
}
