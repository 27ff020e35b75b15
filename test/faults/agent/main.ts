// Every call by which a run of the agent changes its host fails in every way it can: on the model of the kernel, and, by
// strace, the real agent on hosts of network namespaces. Writes results.md.
// Usage: node test/faults/agent/main.ts [part of a title] [every how-manieth of the real ones]
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundle } from '../../../deploy/bundler.ts';
import { bundleFolder } from '../../../rig/parts/program.ts';
import { plansOf } from './failing-disk.ts';
import { SceneOnHost } from './on-host.ts';
import { type Scene, SceneOnModel } from './on-model.ts';
import { scenes, titleOf } from './scenes.ts';
import { faultsOf, wordsOf } from './syscalls.ts';

interface Row {
  readonly title: string;
  readonly calls: number;
  readonly tried: number;
  readonly wrong: number;
}

const [wanted = '', every = '1'] = process.argv.slice(2);
const head = ['host and life', 'calls that change it', 'failures tried', 'wrong'];

function line(cells: readonly (string | number)[]): string {
  return `| ${cells.join(' | ')} |`;
}

function tell(title: string, problems: readonly string[]): boolean {
  for (const problem of [title, ...problems.map((each) => `  ${each}`)]) {
    if (problems.length > 0) console.error(problem);
  }
  return problems.length > 0;
}

async function onModel(scene: Scene): Promise<Row> {
  using stage = await SceneOnModel.open(scene);
  const plans = plansOf(stage.moments);
  const title = titleOf(scene);
  let wrong = 0;
  for (const plan of plans) {
    const { call, on } = stage.moments[plan.at] ?? { call: '', on: '' };
    const words = `${title}, on the model: ${plan.fault} at ${plan.at}, ${call} ${on}`;
    if (tell(words, await stage.problems(plan))) wrong += 1;
  }
  return { title: `${title}, model`, calls: stage.moments.length, tried: plans.length, wrong };
}

/** Only lives in which NICs are added, changed and removed at once: each takes a second or two of real time. */
async function onHost(scene: Scene): Promise<Row> {
  await using stage = await SceneOnHost.open(scene);
  const faults = faultsOf(stage.syscalls).filter((_, at) => at % Number(every) === 0);
  const title = titleOf(scene);
  let wrong = 0;
  for (const fault of faults) {
    const problems = await stage.problems(fault);
    if (tell(`${title}, strace: ${wordsOf(fault)}`, problems)) wrong += 1;
  }
  const calls = stage.syscalls.length;
  return { title: `${title}, strace`, calls, tried: faults.length, wrong };
}

await bundle(bundleFolder);
const rows: Row[] = [];
console.log(line(head));
for (const [run, some] of [
  [onModel, scenes],
  [onHost, scenes.filter(({ life }) => life.name === 'changed')],
] as const) {
  for (const scene of some) {
    if (!`${titleOf(scene)}, ${run === onModel ? 'model' : 'strace'}`.includes(wanted)) continue;
    const row = await run(scene);
    rows.push(row);
    console.log(line(Object.values(row)));
  }
}
const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
const sum = (of: 'tried' | 'wrong') => rows.reduce((total, row) => total + row[of], 0);
const text = `# Failures at every call of the agent that changes its host

Commit ${commit}: ${sum('tried')} failures, ${sum('wrong')} wrong. At each call the process is killed, or the call fails with ENOSPC, EIO or EROFS
where it can. Then every file that anybody reads is the old or the new one and is read as ours, files of others are as they
were, and one more run leads to the very state of a run in which nothing failed. On the model of the kernel all calls of the
process; with strace those of the real agent on network namespaces${every === '1' ? '' : `, one of ${every}`}, and each message of its \`ip\` to the kernel. "added":
two NICs on a bare host. "changed": one gets other addresses, MTU and routing, one leaves, one comes. "removed": all leave.
Made by \`make test-agent-faults\`.

${[line(head), line(head.map(() => '---')), ...rows.map((row) => line(Object.values(row)))].join('\n')}
`;
if (wanted === '') writeFileSync(join(import.meta.dirname, 'results.md'), text);
if (sum('wrong') > 0) process.exitCode = 1;
