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

/**
 * Returns the globs of the files with tests that CI runs: those of all vitest projects but `long`, and `*-tests.ts`, whose tests
 * other files run.
 */
export function ciGlobs(): string[] {
  const globs = projects
    .parse(config)
    .flatMap(({ name, include }) => (name === 'long' ? [] : include));
  return globs.flatMap((glob) => [glob, glob.replace('*.test.ts', '*-tests.ts')]);
}

/** Returns the globs of the test files of one vitest project. */
export function globsOf(project: string): string[] {
  return projects.parse(config).flatMap(({ name, include }) => (name === project ? include : []));
}
