import * as z from 'zod';
import config from '../../vitest.config.ts';

const projects = z
  .object({
    test: z.object({
      projects: z.array(
        z.object({ test: z.object({ name: z.string(), include: z.array(z.string()) }) }),
      ),
    }),
  })
  .transform(({ test }) => test.projects.map((project) => project.test));

/** Globs of the test files of these vitest projects. */
export function globsOf(names: readonly string[]): string[] {
  return projects
    .parse(config)
    .flatMap(({ name, include }) => (names.includes(name) ? include : []));
}

/** The projects that must have run before anything lands, by the text of `.ci/run`. */
export function projectsIn(ciRun: string): string[] {
  const [, names = ''] = /node test\/counts\.ts ([a-z0-9 -]+)/.exec(ciRun) ?? [];
  return names.trim().split(' ');
}
