import { rmSync } from 'node:fs';
import { mkdtemp, rename } from 'node:fs/promises';
import { constants } from 'node:os';
import { basename, dirname, join } from 'node:path';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Runs work in a temporary folder with this prefix and removes the folder afterwards, also after SIGINT and SIGTERM: the folder takes half
 * a gigabyte.
 */
export async function withFolder<T>(
  prefix: string,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(prefix);
  // Programs that were started may still write for a moment.
  const remove = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  process.on('exit', remove);
  for (const name of signals) process.on(name, leave);
  try {
    return await work(folder);
  } finally {
    for (const name of signals) process.off(name, leave);
    process.off('exit', remove);
    remove();
  }
}

/** Writes a file under a temporary name and renames the complete file: a reader never finds a partial file. */
export async function putWhole(
  place: string,
  make: (path: string) => Promise<void>,
): Promise<void> {
  await withFolder(join(dirname(place), '.unfinished-'), async (folder) => {
    const path = join(folder, basename(place));
    await make(path);
    await rename(path, place);
  });
}

function leave(name: NodeJS.Signals): void {
  process.exit(128 + constants.signals[name]);
}
