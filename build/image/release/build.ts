// Builds a release: images, charts, CRDs, samples, the command line with its Node.js, SPDX documents, release notes, checksums.
//   build.ts [--arch amd64,arm64] [--out FOLDER] [--repository PREFIX]     into dist/release, for this machine's architecture
//            [--url ADDRESS]       future address of the files: krew downloads the command line from this address
//   build.ts --one-file [...]     a single file in dist, for both architectures: for sites without network
//
// Needs access to npm and Debian, like `make image`.
import { readFile, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { checkoutBuild } from '../../identity.ts';
import { complaintOf } from '../command.ts';
import { sbomPath } from '../folders.ts';
import {
  architectures,
  architecturesIn,
  type BuiltImage,
  buildImages,
  ownArchitecture,
} from '../images.ts';
import { prefixIn } from '../reference.ts';
import { withFolder } from '../workplace.ts';
import type { CommandFolder } from './command-archive.ts';
import { layOutCommand, layOutPortableCommand } from './command-folder.ts';
import {
  type ReleasedImage,
  type ReleaseOptions,
  writeRelease,
  writeReleaseArchive,
} from './release.ts';
import { releaseNotes } from './release-notes.ts';

const root = join(import.meta.dirname, '../../..');

function readArguments(argv: readonly string[]) {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      arch: { type: 'string' },
      out: { type: 'string' },
      repository: { type: 'string', default: 'localhost' },
      url: { type: 'string' },
      'one-file': { type: 'boolean', default: false },
    },
  });
  const oneFile = values['one-file'];
  const { arch = oneFile ? architectures.join(',') : ownArchitecture } = values;
  const { out = join(root, oneFile ? 'dist' : 'dist/release') } = values;
  return {
    oneFile,
    out,
    architectures: architecturesIn(arch),
    repository: prefixIn(values.repository),
    url: values.url === undefined ? undefined : addressIn(values.url),
  };
}

/** Returns an address without a slash at its end; throws if krew cannot download from it. */
function addressIn(text: string): string {
  if (URL.canParse(text) && /^https?:/.test(text)) return text.replace(/\/+$/, '');
  throw new Error(`--url "${text}" is no http or https URL`);
}

type Arguments = ReturnType<typeof readArguments>;

/** Builds images and command line of all architectures in the folder `work`. */
async function gather(
  { architectures: wanted, repository, url }: Arguments,
  work: string,
): Promise<ReleaseOptions> {
  const build = await checkoutBuild({ isRelease: true });
  const { version } = build;
  // Fails for a missing section before minutes of building.
  releaseNotes(await readFile(join(root, 'CHANGELOG.md'), 'utf8'), version);
  const images: ReleasedImage[] = [];
  const commands: CommandFolder[] = [];
  /** An image with the bundle, which is the same for all architectures. */
  let bundled: BuiltImage | undefined;
  for (const architecture of wanted) {
    const places = { out: join(work, 'images'), work: join(work, 'build') };
    const built = await buildImages({ architecture, build, repository, ...places });
    for (const image of built) {
      console.log(`${image.name} ${architecture} ${image.digest}`);
      images.push({ ...image, sbom: await readFile(join(image.app, sbomPath), 'utf8') });
    }
    const [controllers] = built;
    if (!controllers) throw new Error(`no image was built for ${architecture}`);
    const folder = join(work, 'command', architecture);
    commands.push(await layOutCommand({ architecture, version, controllers, folder }));
    bundled = controllers;
  }
  if (bundled) {
    const folder = join(work, 'command/any');
    commands.push(await layOutPortableCommand({ version, controllers: bundled, folder }));
  }
  return { root, version, images, commands, url, work: join(work, 'release') };
}

async function main(argv: readonly string[]): Promise<void> {
  const options = readArguments(argv);
  await withFolder(join(tmpdir(), 'multinic-release-'), async (work) => {
    const release = await gather(options, work);
    if (options.oneFile) {
      const file = await writeReleaseArchive(options.out, release);
      console.log(`${file} ${((await stat(file)).size / 1024 / 1024).toFixed(1)} MiB`);
      return;
    }
    await writeRelease(options.out, release);
    console.log(
      `${options.out}\n  read RELEASE-NOTES.md; docs/guides/install.md begins with this folder`,
    );
  });
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  console.error(`make release: ${complaintOf(error)}`);
  process.exitCode = 1;
}
