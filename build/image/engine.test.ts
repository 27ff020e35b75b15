import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Build, engineIn, namesOf, stepsOf } from './engine.ts';

const build: Build = {
  engine: 'docker',
  image: 'multinic-agent:1',
  architectures: ['arm64'],
  dockerfile: 'F',
  context: 'C',
  version: '1.2.3',
  revision: 'abc',
  push: false,
  archive: 'a.tar',
};
const inputs = '--build-arg VERSION=1.2.3 --build-arg REVISION=abc --file F C';

const commands = (change: Partial<Build>): readonly string[] =>
  stepsOf({ ...build, ...change }).map(({ command }) => command.join(' '));

describe('engine commands', () => {
  it.each(['docker', 'podman', 'buildah'] as const)(
    '%s builds one architecture with a plain build',
    (engine) => {
      const one = `${engine} build --platform linux/arm64 --build-arg TARGETARCH=arm64 --tag multinic-agent:1 ${inputs}`;
      expect(commands({ engine })).toEqual([one]);
      expect(commands({ engine, push: true })).toEqual([one, `${engine} push multinic-agent:1`]);
    },
  );

  it('docker builds several into an archive or a registry', () => {
    const architectures = ['amd64', 'arm64'] as const;
    const start = 'docker buildx build --platform linux/amd64,linux/arm64 --tag multinic-agent:1';
    expect(commands({ architectures })).toEqual([
      `${start} --output type=oci,dest=a.tar ${inputs}`,
    ]);
    expect(commands({ architectures, push: true })).toEqual([`${start} --push ${inputs}`]);
  });

  it('podman and buildah recreate the manifest list first', () => {
    const several = { engine: 'podman', architectures: ['amd64', 'arm64'] } as const;
    const platforms = '--platform linux/amd64,linux/arm64';
    const made = [
      'podman manifest rm multinic-agent:1',
      `podman build ${platforms} --manifest multinic-agent:1 ${inputs}`,
    ];
    const push = 'podman manifest push --all multinic-agent:1';
    expect(commands(several)).toEqual([...made, `${push} oci-archive:a.tar`]);
    expect(commands({ ...several, push: true })).toEqual([
      ...made,
      `${push} docker://multinic-agent:1`,
    ]);
  });
});

describe('the name', () => {
  it.each([
    ['multinic:v1alpha1', 'multinic-agent:v1alpha1'],
    [
      'registry.example.com:5000/team/multinic:1.2.3',
      'registry.example.com:5000/team/multinic-agent:1.2.3',
    ],
  ])('%s stands for both', (img, agent) => {
    expect(namesOf(img)).toEqual({
      'multinic-controllers': agent.replace('-agent', '-controllers'),
      'multinic-agent': agent,
    });
  });

  it.each(['multinic', 'localhost:5000/multinic', 'multinic@sha256:0', ':1', 'multinic: 1'])(
    '%s is refused',
    (img) => {
      expect(() => namesOf(img)).toThrow('must be [REGISTRY/]NAME:TAG');
    },
  );
});

describe('the engine', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'multinic-engine-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  async function put(name: string, script: string): Promise<void> {
    await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }

  it('the first working engine in the order docker, podman, buildah is used', async () => {
    await put('docker', 'echo "Cannot connect to the Docker daemon" >&2; exit 1');
    await put('podman', 'exit 0');
    await put('buildah', 'exit 0');
    expect(await engineIn({ PATH: folder })).toBe('podman');
  });

  it('the error names `make image`, which needs no engine, when no engine works', async () => {
    await put('docker', 'echo "Cannot connect to the Docker daemon" >&2; exit 1');
    const refused = engineIn({ PATH: folder });
    await expect(refused).rejects.toThrow('Cannot connect to the Docker daemon');
    await expect(refused).rejects.toThrow("there is no podman; it is in Debian's package podman");
    await expect(refused).rejects.toThrow('install one of them, or use `make image`');
  });
});
