import { complaintOf, run } from './command.ts';
import type { Architecture } from './debian.ts';
import type { LaidOut } from './folders.ts';
import { isRepository } from './reference.ts';

/** Container engines that build from a Dockerfile, the likeliest first. */
export const engines = ['docker', 'podman', 'buildah'] as const;

export type Engine = (typeof engines)[number];

type Name = LaidOut['name'];

/** Returns the first working engine: a docker client without a daemon does not work. */
export async function engineIn(env: NodeJS.ProcessEnv): Promise<Engine> {
  const complaints: string[] = [];
  for (const engine of engines) {
    try {
      await run([engine, 'version'], { env });
      return engine;
    } catch (error) {
      complaints.push(complaintOf(error));
    }
  }
  const hint = 'install one of them, or use `make image`, which needs none';
  throw new Error(`no container engine works here:\n${complaints.join('\n')}\n${hint}`);
}

/** Names of both images: `REPOSITORY/multinic:TAG` stands for two images. */
export function namesOf(img: string): Readonly<Record<Name, string>> {
  const [, repository, tag] = /^([^@\s]+):([\w][\w.-]{0,127})$/.exec(img) ?? [];
  if (!repository || !tag || !isRepository(repository)) {
    throw new Error(
      `IMG "${img}" must be [REGISTRY/]NAME:TAG, such as multinic:1.2.3, NAME in small letters`,
    );
  }
  return {
    'multinic-controllers': `${repository}-controllers:${tag}`,
    'multinic-agent': `${repository}-agent:${tag}`,
  };
}

export interface Build {
  readonly engine: Engine;
  readonly image: string;
  readonly architectures: readonly Architecture[];
  readonly dockerfile: string;
  /** Folder from `build.ts --context`. */
  readonly context: string;
  readonly version: string;
  readonly revision: string;
  readonly push: boolean;
  /** OCI archive for an image with several architectures and without --push: no engine stores such an image. */
  readonly archive: string;
}

export interface Step {
  readonly command: readonly [string, ...string[]];
  /** Ignore the failure: the manifest list did not exist. */
  readonly mayFail?: boolean;
}

/** Commands that build an image. */
export function stepsOf(build: Build): readonly Step[] {
  const { engine, image, architectures, push } = build;
  const [only, ...others] = architectures;
  if (only !== undefined && others.length === 0) return ofOne(build, only);
  const platforms = ['--platform', architectures.map((one) => `linux/${one}`).join(',')];
  if (engine === 'docker') {
    const to = push ? ['--push'] : ['--output', `type=oci,dest=${build.archive}`];
    return [
      {
        command: [
          'docker',
          'buildx',
          'build',
          ...platforms,
          '--tag',
          image,
          ...to,
          ...inputsOf(build),
        ],
      },
    ];
  }
  const to = push ? `docker://${image}` : `oci-archive:${build.archive}`;
  return [
    // An existing manifest list would grow.
    { command: [engine, 'manifest', 'rm', image], mayFail: true },
    { command: [engine, 'build', ...platforms, '--manifest', image, ...inputsOf(build)] },
    { command: [engine, 'manifest', 'push', '--all', image, to] },
  ];
}

function ofOne(build: Build, architecture: Architecture): readonly Step[] {
  const { engine, image, push } = build;
  // Older builders do not set TARGETARCH.
  const target = [
    '--platform',
    `linux/${architecture}`,
    '--build-arg',
    `TARGETARCH=${architecture}`,
  ];
  const built: Step = { command: [engine, 'build', ...target, '--tag', image, ...inputsOf(build)] };
  return push ? [built, { command: [engine, 'push', image] }] : [built];
}

function inputsOf({ version, revision, dockerfile, context }: Build): readonly string[] {
  const args = [`VERSION=${version}`, `REVISION=${revision}`].flatMap((arg) => [
    '--build-arg',
    arg,
  ]);
  return [...args, '--file', dockerfile, context];
}
