// Prints vitest's options that leave out the test files of a stage whose turn is in another run:  files-in-turn.ts STAGE
// Long suites run all files.
import { type Parts, rotated } from './rotation.ts';

/** Files of each run, without their folder below `test/system`; a file may have several turns. */
type Turns = readonly (readonly string[])[] & { readonly length: Parts };

// Files whose tests rotate in 3 parts rotate in 2 parts here, and the reverse: otherwise tests never run.
const stages: Readonly<Record<string, readonly Turns[]>> = {
  e2e: [
    [
      ['e2e/trouble', 'e2e/upgrade', 'lifecycle/life'],
      ['e2e/crash', 'e2e/guides'],
    ],
    [
      ['lifecycle/mariadb-damages', 'lifecycle/mariadb-restore'],
      ['lifecycle/mariadb-restore', 'lifecycle/mariadb-scripts'],
      ['lifecycle/mariadb-scripts', 'lifecycle/mariadb-damages'],
    ],
  ],
  integration: [
    [['openapi-fuzz'], ['cluster/scripts'], ['power-cut/life']],
    [['distros/matrix'], ['cluster/cleanup-nics', 'cluster/lifecycle-scripts']],
  ],
  openstack: [
    [
      ['openstack/cloud-contract', 'openstack/fields/fields'],
      ['openstack/fields/fields', 'openstack/faults/faults'],
      ['openstack/faults/faults', 'openstack/cloud-contract'],
    ],
  ],
};

const nameOf = (turn: readonly string[]): string => `the turn of ${turn.join(' and ')}`;

/** Returns the files of a stage that this run leaves out. */
function leftOut(stage: string, turns: Turns, group: number): readonly string[] {
  const own = rotated(`files of ${stage}, group ${group}`, turns, turns.length, nameOf).flat();
  return [...new Set(turns.flat())].filter((name) => !own.includes(name));
}

const [stage = ''] = process.argv.slice(2);
const groups = stages[stage];
if (!groups) throw new Error(`no files take turns in the stage "${stage}"`);
const names = groups.flatMap((turns, at) => leftOut(stage, turns, at + 1));
const options = names.map((name) => `--exclude test/system/${name}.test.ts`);
process.stdout.write(`${options.join(' ')}\n`);
