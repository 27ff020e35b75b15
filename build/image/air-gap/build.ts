// Builds the images and packs them with charts, CRDs, scripts, docs and checksums into one file for sites without network.
//   build.ts [--arch amd64,arm64] [--out FOLDER] [--repository PREFIX]
//
// Reaches npm and Debian, as `make image` does. On each node: unpack it, then load-images.sh.
import { stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { versionOf } from '../../identity.ts';
import { complaintOf } from '../command.ts';
import { architecturesIn, buildImages } from '../images.ts';
import { prefixIn } from '../reference.ts';
import { withFolder } from '../workplace.ts';
import { writeImageArchive } from './image-archive.ts';

const root = join(import.meta.dirname, '../../..');

async function build(argv: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      arch: { type: 'string', default: 'amd64,arm64' },
      out: { type: 'string', default: join(root, 'dist') },
      repository: { type: 'string', default: 'localhost' },
    },
  });
  const repository = prefixIn(values.repository);
  const version = await versionOf(root);
  await withFolder(join(tmpdir(), 'multinic-archive-'), async (work) => {
    const images: string[] = [];
    for (const architecture of architecturesIn(values.arch)) {
      const places = { out: join(work, 'images'), work: join(work, 'build') };
      const built = await buildImages({ architecture, version, repository, ...places });
      for (const { name, file, digest } of built) {
        console.log(`${name} ${architecture} ${digest}`);
        images.push(file);
      }
    }
    const file = await writeImageArchive({ root, version, images, out: values.out, work });
    console.log(`${file} ${((await stat(file)).size / 1024 / 1024).toFixed(1)} MiB`);
  });
}

try {
  await build(process.argv.slice(2));
} catch (error) {
  console.error(`make image-archive: ${complaintOf(error)}`);
  process.exitCode = 1;
}
