// Prints vitest's options that leave out the test files of a stage whose turn is in another run:  files-in-turn.ts STAGE
// Long suites run all files.
import { rotated } from './rotation.ts';

// Files whose tests rotate in 3 parts rotate in 2 parts here, and the reverse: otherwise tests never run.
const files: Readonly<
  Record<string, { readonly parts: 2 | 3; readonly paths: readonly string[] }>
> = {
  e2e: {
    parts: 2,
    paths: [
      'test/system/e2e/trouble.test.ts',
      'test/system/e2e/crash.test.ts',
      'test/system/lifecycle/life.test.ts',
      'test/system/e2e/guides.test.ts',
    ],
  },
  integration: {
    parts: 3,
    paths: [
      'test/system/openapi-fuzz.test.ts',
      'test/system/cluster/scripts.test.ts',
      'test/system/power-cut/life.test.ts',
    ],
  },
};

const [stage = ''] = process.argv.slice(2);
const group = files[stage];
if (!group) throw new Error(`no files take turns in the stage "${stage}"`);
const { parts, paths } = group;
const own = new Set(rotated(`files of ${stage}`, paths, parts, (path) => path));
const others = paths.filter((path) => !own.has(path));
process.stdout.write(`${others.map((path) => `--exclude ${path}`).join(' ')}\n`);
