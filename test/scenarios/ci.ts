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

/** Returns the globs of the test files that CI runs: those of all vitest projects but `long`. */
export function ciGlobs(): string[] {
  return projects.parse(config).flatMap(({ name, include }) => (name === 'long' ? [] : include));
}

/** Returns the globs of the test files of one vitest project. */
export function globsOf(project: string): string[] {
  return projects.parse(config).flatMap(({ name, include }) => (name === project ? include : []));
}
