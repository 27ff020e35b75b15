import { rmSync } from 'node:fs';
import { mkdtemp, rename } from 'node:fs/promises';
import { constants } from 'node:os';
import { basename, dirname, join } from 'node:path';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Works in a folder of its own, `prefix` and six characters, of which nothing stays: it holds half a gigabyte, and is removed
 * also when somebody who does not want to wait for the end stops the program.
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

/** Has a file made beside its place, to which it comes when it is whole: what is found there is never half of it. */
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
