import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { checkoutBuild } from '../../build/identity.ts';
import { ownArchitecture } from '../../build/image/images.ts';
import { type Buildah, startBuildah } from './images/buildah.ts';
import { type Built, buildAndUnpack, repository, run, shorts } from './images/built.ts';
import { contentOf, layersOf, unpack } from './images/unpacked.ts';

// The images of this machine's architecture, built in other ways; images.test.ts has what is in them.
let built: Built;

beforeAll(async () => {
  built = await buildAndUnpack([ownArchitecture]);
});

afterAll(() => built?.[Symbol.asyncDispose]());

/** Two builds of the agent's startup snapshot differ in some bytes. */
const hasSnapshot = (short: string) => short === 'multinic-agent' && ownArchitecture === 'amd64';

it('the images are equal byte for byte when a user with another umask and time zone builds them', async () => {
  const before = process.umask(0o077);
  vi.stubEnv('TZ', 'Asia/Seoul');
  const again = await built.build('second time', ownArchitecture).finally(() => {
    process.umask(before);
    vi.unstubAllEnvs();
  });
  expect(again.map(({ name }) => name)).toEqual(built.images.map(({ name }) => name));
  for (const [at, short] of shorts.entries()) {
    const [one, other] = [built.images[at]?.file ?? '', again[at]?.file ?? ''];
    if (!hasSnapshot(short)) {
      expect((await readFile(one)).equals(await readFile(other))).toBe(true);
      continue;
    }
    const [layers, others] = [await layersOf(one), await layersOf(other)];
    expect(layers).toHaveLength(4);
    expect(others.slice(0, -1)).toEqual(layers.slice(0, -1));
  }
});

describe('from its Dockerfile', () => {
  let buildah: Buildah;

  beforeAll(async () => {
    buildah = await startBuildah(join(built.folder, 'buildah'));
    const script = join(repository, 'build/image/docker-build.ts');
    const args = [script, '--img', 'test.invalid/multinic:9', '--engine', 'buildah'];
    await run(process.execPath, args, { env: buildah.env, maxBuffer: 2 ** 26 });
  });

  it.each(shorts)('%s has the same files, and is run in the same way', async (short) => {
    const file = join(built.folder, `${short}.oci.tar`);
    await buildah.save(`test.invalid/${short}:9`, file);
    const made = (await unpack(file, join(built.folder, `${short}.made`))).get(ownArchitecture);
    const { root, config } = built.imageOf(short);
    const [ofDockerfile, ofArchive] = await Promise.all(
      [made?.root ?? '', root].map(async (each) =>
        (await contentOf(each)).map((line) => line.replace(/^(\/app\/agent\.blob .*) .*/, '$1')),
      ),
    );
    expect(ofDockerfile).toEqual(ofArchive);
    const { 'io.buildah.version': _, ...labels } = made?.config.config.Labels ?? {};
    expect({ ...made?.config.config, Labels: labels }).toEqual(config.config);
    expect(labels['org.opencontainers.image.revision']).toBe((await checkoutBuild()).commit);
  });
});
