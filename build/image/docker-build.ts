// Builds both images from their Dockerfiles with the container engine of this machine: docker, podman or buildah.
//   docker-build.ts --img [REGISTRY/]NAME:TAG [--arch amd64,arm64] [--push] [--engine NAME]
//
// NAME stands for two images, NAME-controllers and NAME-agent. An image for this machine's architecture stays in the engine; images for
// several architectures go to archives in dist/images, or with --push to the registry. `make image` needs no engine.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { checkoutBuild } from '../identity.ts';
import { complaintOf } from './command.ts';
import { writeContext } from './context.ts';
import { type Engine, engineIn, engines, namesOf, type Step, stepsOf } from './engine.ts';
import { architecturesIn, ownArchitecture } from './images.ts';
import { withFolder } from './workplace.ts';

const root = join(import.meta.dirname, '../..');

async function main(argv: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      img: { type: 'string', default: '' },
      arch: { type: 'string', default: ownArchitecture },
      push: { type: 'boolean', default: false },
      engine: { type: 'string' },
      out: { type: 'string', default: join(root, 'dist/images') },
    },
  });
  const build = await checkoutBuild();
  const { version, commit: revision } = build;
  const names = namesOf(values.img || `multinic:${version}`);
  const architectures = architecturesIn(values.arch);
  const engine = values.engine === undefined ? await engineIn(process.env) : known(values.engine);
  await mkdir(values.out, { recursive: true });
  await withFolder(join(tmpdir(), 'multinic-context-'), async (context) => {
    await writeContext(architectures, build, context);
    for (const [name, image] of Object.entries(names)) {
      const dockerfile = join(import.meta.dirname, name.replace('multinic-', 'Dockerfile.'));
      const archive = join(values.out, `${name}-${version}.oci.tar`);
      const { push } = values;
      const one = {
        engine,
        image,
        architectures,
        dockerfile,
        context,
        version,
        revision,
        push,
        archive,
      };
      for (const step of stepsOf(one)) await run(step);
      console.log(architectures.length > 1 && !push ? `${image}\n  ${archive}` : image);
    }
  });
}

function known(name: string): Engine {
  const engine = engines.find((one) => one === name);
  if (!engine) throw new Error(`--engine "${name}" is unknown; use ${engines.join(', ')}`);
  return engine;
}

/** Forwards the engine's output to ours. */
async function run({ command: [program, ...words], mayFail = false }: Step): Promise<void> {
  const child = spawn(program, words, { stdio: mayFail ? 'ignore' : 'inherit' });
  const [status] = (await once(child, 'close')) as [number | null];
  if (status !== 0 && !mayFail) throw new Error(`${program} ${words[0]} failed (status ${status})`);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  console.error(`make docker-build: ${complaintOf(error)}`);
  process.exitCode = 1;
}
