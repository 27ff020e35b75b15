import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatedDisk } from '../../src/agent/apply/disk.ts';

/** A host of which there is one folder of files, such as `/etc/netplan`. */
export class HostFolder implements AsyncDisposable {
  readonly disk: DatedDisk;
  /** Where the folder is. */
  readonly path: string;

  private constructor(hostRoot: string, folder: string) {
    this.disk = {
      hostRoot,
      perform: async (_, write) => write(),
      clock: { now: () => new Date(0) },
    };
    this.path = join(hostRoot, folder);
  }

  static async make(folder: string): Promise<HostFolder> {
    const made = new HostFolder(await mkdtemp(join(tmpdir(), 'multinic-files-')), folder);
    await mkdir(made.path, { recursive: true });
    return made;
  }

  async put(name: string, text: string): Promise<void> {
    await writeFile(join(this.path, name), text, { mode: 0o644 });
  }

  /** Text by name, hidden ones too, but not the backups. */
  async files(): Promise<Record<string, string>> {
    const names = (await readdir(this.path)).filter((name) => name !== 'backup').toSorted();
    const texts = await Promise.all(names.map((name) => readFile(join(this.path, name), 'utf8')));
    return Object.fromEntries(names.map((name, at) => [name, texts[at] ?? '']));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.disk.hostRoot, { recursive: true });
  }
}
