import { createReadStream, createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { run } from '../command.ts';
import { reproducibly } from '../layer.ts';
import { putWhole } from '../workplace.ts';

/** Packs entries in a folder as .tar.gz; equal files give an equal archive. `level` is the gzip level. */
export async function packTarball(
  out: string,
  folder: string,
  entries: readonly string[],
  level = 6,
): Promise<void> {
  const modes = '--mode=u=rwX,go=rX';
  await putWhole(out, async (path) => {
    const scratch = `${path}.tar`;
    await run(['tar', ...reproducibly, modes, '-C', folder, '-cf', scratch, ...entries]);
    await pipeline(createReadStream(scratch), createGzip({ level }), createWriteStream(path));
  });
}
