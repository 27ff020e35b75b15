// Queries npm's registry for advisories on the images' packages and stores the answer as a dated snapshot. A test compares the snapshot
// with the bills of materials.
//   ask-advisories.ts
//
// If the registry is a mirror without advisories, the command reports this and leaves the snapshot unchanged.
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundle } from '../bundler.ts';
import { adviceOn, askRegistry, type Snapshot } from './advisories.ts';
import { complaintOf, run } from './command.ts';
import { bundledPackages } from './npm-packages.ts';

const root = join(import.meta.dirname, '../..');
const folder = join(root, 'test/packaging/images');

async function ask(): Promise<void> {
  const work = await mkdtemp(join(tmpdir(), 'multinic-advisories-'));
  try {
    const packages = await bundledPackages(root, await bundle(work));
    const registry = (await run(['npm', 'config', 'get', 'registry'])).trim();
    const advisories = await askRegistry(registry, packages);
    const date = new Date().toISOString().slice(0, 10);
    const source = `${registry}, asked for ${packages.length} packages in the versions of the images`;
    const snapshot: Snapshot = { date, source, advisories };
    for (const file of await readdir(folder)) {
      if (file.startsWith('advisories-')) await rm(join(folder, file));
    }
    const text = `${JSON.stringify(snapshot, undefined, 2)}\n`;
    await writeFile(join(folder, `advisories-${date}.json`), text);
    const advice = adviceOn(packages, snapshot);
    console.log(advice.length === 0 ? 'nothing is known of them' : advice.join('\n'));
  } finally {
    await rm(work, { recursive: true });
  }
}

try {
  await ask();
} catch (error) {
  console.error(`ask-advisories: ${complaintOf(error)}`);
  process.exitCode = 1;
}
