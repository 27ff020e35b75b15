import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * A folder whose files are all replaced at once, as a kubelet does it: they lie in a hidden folder that the link `..data`
 * points to, and what people see are links through it.
 * https://github.com/kubernetes/kubernetes/blob/v1.34.0/pkg/volume/util/atomic_writer.go
 */
export class AtomicFolder {
  readonly path: string;
  #current: string | undefined;

  constructor(path: string) {
    this.path = path;
  }

  async replace(files: Readonly<Record<string, string>>): Promise<void> {
    const before = this.#current;
    const name = `..${new Date().toISOString().replaceAll(/[:.]/g, '_')}.${randomBytes(4).toString('hex')}`;
    await mkdir(join(this.path, name), { recursive: true });
    for (const [key, text] of Object.entries(files)) {
      await writeFile(join(this.path, name, key), text, { mode: 0o600 });
    }
    await symlink(name, join(this.path, '..data_tmp'));
    await rename(join(this.path, '..data_tmp'), join(this.path, '..data'));
    this.#current = name;
    await this.#showOnly(Object.keys(files));
    if (before !== undefined) await rm(join(this.path, before), { recursive: true });
  }

  async #showOnly(names: readonly string[]): Promise<void> {
    const shown = (await readdir(this.path)).filter((name) => !name.startsWith('..'));
    for (const name of names.filter((one) => !shown.includes(one))) {
      await symlink(join('..data', name), join(this.path, name));
    }
    for (const name of shown.filter((one) => !names.includes(one))) {
      await rm(join(this.path, name));
    }
  }
}
