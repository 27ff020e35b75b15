// Every call by which a run of the agent changes its host fails in every way it can: on the model of the kernel, and, by
// strace, the real agent on hosts of network namespaces; and a thousand sets of what others have. Writes results.md.
// Usage: node test/property/disk-faults/main.ts [part of a title]
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { bundle } from '../../../build/bundler.ts';
import { bundleFolder } from '../../../rig/parts/program.ts';
import { putRow, type ResultsTable } from '../../results-table.ts';
import { sampleOf } from '../../rotation.ts';
import { plansOf } from './failing-disk.ts';
import { SceneOnHost } from './on-host.ts';
import { type ModelLife, SceneOnModel } from './on-model.ts';
import { scenes, titleOf } from './scenes.ts';
import { faultsOf, wordsOf } from './syscalls.ts';

interface Row {
  readonly calls: number | '';
  readonly tried: number;
  readonly wrong: number;
}

interface Trial {
  readonly title: string;
  readonly run: () => Promise<Row>;
}

const [wanted = ''] = process.argv.slice(2);
const isSample = Boolean(process.env['MULTINIC_TEST_SAMPLE']);
const foreignSetCount = isSample ? 30 : 1_000;

/** Returns all failures, or so many of them for a sample. */
function chosen<T>(failures: readonly T[], count: number): readonly T[] {
  return isSample ? sampleOf(failures, count) : failures;
}

function tell(title: string, problems: readonly string[]): boolean {
  for (const problem of [title, ...problems.map((each) => `  ${each}`)]) {
    if (problems.length > 0) console.error(problem);
  }
  return problems.length > 0;
}

async function onModel(scene: ModelLife): Promise<Row> {
  using stage = await SceneOnModel.open(scene);
  const plans = chosen(plansOf(stage.moments), 10);
  let wrong = 0;
  for (const plan of plans) {
    const { call, on } = stage.moments[plan.at] ?? { call: '', on: '' };
    const words = `${titleOf(scene)}, on the model: ${plan.fault} at ${plan.at}, ${call} ${on}`;
    if (tell(words, await stage.problems(plan))) wrong += 1;
  }
  return { calls: stage.moments.length, tried: plans.length, wrong };
}

/** Only lives in which NICs are added, changed and removed at once: each takes a second or two of real time. */
async function onHost(scene: ModelLife): Promise<Row> {
  await using stage = await SceneOnHost.open(scene);
  const faults = chosen(faultsOf(stage.syscalls), 5);
  let wrong = 0;
  for (const fault of faults) {
    const problems = await stage.problems(fault);
    if (tell(`${titleOf(scene)}, strace: ${wordsOf(fault)}`, problems)) wrong += 1;
  }
  return { calls: stage.syscalls.length, tried: faults.length, wrong };
}

async function foreignSets(project: string, file: string): Promise<Row> {
  const { status } = spawnSync('test/vitest', [`disk-faults-sets-${project}`, project, file], {
    stdio: 'inherit',
    env: { ...process.env, MULTINIC_FOREIGN_SETS: `${foreignSetCount}` },
  });
  return { calls: '', tried: foreignSetCount, wrong: status === 0 ? 0 : 1 };
}

const sets = 'sets of what others have';
const trials: readonly Trial[] = [
  ...scenes.map((scene) => ({ title: `${titleOf(scene)}, model`, run: () => onModel(scene) })),
  ...scenes
    .filter(({ life }) => life.name === 'changed')
    .map((scene) => ({ title: `${titleOf(scene)}, strace`, run: () => onHost(scene) })),
  {
    title: `${sets}, model`,
    run: () => foreignSets('unit', 'test/property/agent-foreign.test.ts'),
  },
  {
    title: `${sets}, network namespaces`,
    run: () => foreignSets('long', 'test/property/disk-faults/foreign-sets.long.ts'),
  },
];

const table: ResultsTable = {
  path: join(import.meta.dirname, 'results.md'),
  text: `# Failures at every call of the agent that changes its host

At each call the process is killed, or the call fails with ENOSPC, EIO or EROFS where it can. Then every file that anybody
reads is the old or the new one and is read as ours, files of others are as they were, and one more run leads to the very state
of a run in which nothing failed. On the model of the kernel all calls of the process; with strace those of the real agent on
network namespaces, and each message of its \`ip\` to the kernel. "added": two NICs on a bare host. "changed": one gets other
addresses, MTU and routing, one leaves, one comes. "removed": all leave. Made by \`make test-long SUITE=disk-faults\`.
`,
  head: ['host and life', 'calls that change it', 'failures tried', 'wrong'],
  titles: trials.map(({ title }) => title),
};

await bundle(bundleFolder);
for (const { title, run } of trials.filter((trial) => trial.title.includes(wanted))) {
  const { calls, tried, wrong } = await run();
  console.log(putRow(table, title, [calls, tried, wrong]));
  if (wrong > 0) process.exitCode = 1;
}
