import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runScript } from '../../../rig/hosts/box/script.ts';

export interface PackedImage extends AsyncDisposable {
  readonly archive: string;
  readonly imageID: string;
}

/** Packs the agent's image with a test program instead of the bundle. */
export async function packProgram(program: string): Promise<PackedImage> {
  const folder = await mkdtemp(join(tmpdir(), 'multinic-image-'));
  await writeFile(join(folder, 'main.mjs'), program);
  const archive = join(folder, 'agent.tar');
  const pack = join(import.meta.dirname, '../../../rig/agent-image/pack');
  return {
    archive,
    imageID: (await runScript(pack, [archive, folder])).trim(),
    [Symbol.asyncDispose]: async () => rm(folder, { recursive: true }),
  };
}
