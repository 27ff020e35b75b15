// Prints vitest's options that leave out the test files of a stage whose turn is in another run:  files-in-turn.ts STAGE
// Long suites run all files.
import { type Parts, rotated } from './rotation.ts';

/** Files of each run, without their folder below `test`; a file may have several turns. */
type Turns = readonly (readonly string[])[] & { readonly length: Parts };

// Files whose tests rotate in 3 parts rotate in 2 parts here, and the reverse: otherwise tests never run.
const stages: Readonly<Record<string, readonly Turns[]>> = {
  e2e: [
    [
      ['system/e2e/trouble', 'system/e2e/upgrade', 'system/lifecycle/life'],
      ['system/e2e/crash', 'system/e2e/guides'],
    ],
    [
      ['system/lifecycle/mariadb-damages', 'system/lifecycle/mariadb-restore'],
      ['system/lifecycle/mariadb-restore', 'system/lifecycle/mariadb-scripts'],
      ['system/lifecycle/mariadb-scripts', 'system/lifecycle/mariadb-damages'],
    ],
  ],
  crash: [
    [
      ['chain/crash/agent', 'chain/crash/operator-access', 'chain/crash/operator-status'],
      ['chain/crash/controller', 'chain/crash/viola-controller', 'chain/crash/operator-inventory'],
    ],
  ],
  integration: [
    [
      ['system/openapi-fuzz'],
      ['system/cluster/scripts', 'system/power-cut/life'],
      ['system/cluster/releases'],
    ],
    [
      ['system/distros/matrix'],
      ['system/cluster/cleanup-nics', 'system/cluster/lifecycle-scripts'],
    ],
    [
      ['system/hosts/observed', 'system/hosts/adopted-nm'],
      ['system/hosts/released', 'system/hosts/cloud-init-ports'],
      ['system/hosts/adopted'],
    ],
    [['system/biz-config/phases'], ['system/adoption/fleet']],
  ],
  openstack: [
    [
      ['system/openstack/cloud-contract', 'system/openstack/fields/fields'],
      ['system/openstack/fields/fields', 'system/openstack/faults/faults'],
      ['system/openstack/faults/faults', 'system/openstack/cloud-contract'],
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
const options = names.map((name) => `--exclude test/${name}.test.ts`);
process.stdout.write(`${options.join(' ')}\n`);
