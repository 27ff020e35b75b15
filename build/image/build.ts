// Builds both images without a container engine, each as an archive: for `docker load`, `ctr image import`, `skopeo copy`.
//   build.ts [--arch amd64,arm64] [--out FOLDER] [--repository PREFIX]
//   build.ts --context FOLDER [--arch amd64,arm64]     writes the files that the Dockerfiles copy instead
//
// Needs a Debian machine with apt-get and dpkg-deb, and access to npm and Debian (DEBIAN_MIRROR; default http://deb.debian.org). The
// images contain our bundle, npm's Node.js, Debian's libraries and, for the agent, Debian's `ip`: no shell.
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { checkoutBuild } from '../identity.ts';
import { complaintOf } from './command.ts';
import { writeContext } from './context.ts';
import { architecturesIn, buildImages, ownArchitecture } from './images.ts';
import { prefixIn } from './reference.ts';
import { withFolder } from './workplace.ts';

const root = join(import.meta.dirname, '../..');

async function main(argv: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      arch: { type: 'string', default: ownArchitecture },
      out: { type: 'string', default: join(root, 'dist/images') },
      repository: { type: 'string', default: 'localhost' },
      context: { type: 'string' },
    },
  });
  const { arch, out, context } = values;
  const [wanted, repository] = [architecturesIn(arch), prefixIn(values.repository)];
  const build = await checkoutBuild();
  if (context !== undefined) {
    await writeContext(wanted, build, context);
    return;
  }
  await withFolder(join(tmpdir(), 'multinic-image-'), async (work) => {
    for (const architecture of wanted) {
      for (const image of await buildImages({ architecture, build, out, repository, work })) {
        const size = `${(image.size / 1024 / 1024).toFixed(1)} MiB`;
        console.log(`${image.name} ${architecture} ${size} ${image.digest}\n  ${image.file}`);
      }
    }
  });
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  console.error(`make image: ${complaintOf(error)}`);
  process.exitCode = 1;
}
