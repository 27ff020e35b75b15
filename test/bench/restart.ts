// What a restart of the controller costs in a cluster of 10,000 MultiNicNodeConfigs whose Jobs are still there: CPU of the
// process until it has looked at all of them, and Jobs that it makes again.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { bundle } from '../../build/bundler.ts';
import { freePorts } from '../../rig/parts/free-ports.ts';
import { controllerPart } from '../../rig/parts/parts.ts';
import { bundleFolder } from '../../rig/parts/program.ts';
import { Supervisor } from '../../rig/parts/supervisor.ts';
import { systemClock as clock } from '../../src/time/clock.ts';
import { cpuOf, Figures, median, rssOf } from './figures.ts';
import { firstLine, start } from './operator-world.ts';

const configs = 10_000;
const running = 100;
const goals = { timesPlainLists: 10, jobs: 0 };
/** Nothing more comes then. */
const quietMs = 5_000;

async function reconciled(port: number): Promise<number> {
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const counts = metrics.matchAll(
    /^multinic_reconcile_total\{controller="node-config"[^}]*\} (\d+)$/gm,
  );
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

await bundle(bundleFolder);
await using stack = new AsyncDisposableStack();
const directory = await mkdtemp(join(tmpdir(), 'multinic-restart-'));
stack.defer(() => rm(directory, { recursive: true }));
const cluster = start('test/bench/restart-cluster.ts', `${configs}`, `${running}`);
stack.defer(() => {
  cluster.kill();
});
const { url = '' } = await firstLine(cluster);
const kubeconfig = join(directory, 'kubeconfig');
const context = { name: 'bench', context: { cluster: 'bench', user: 'bench' } };
await writeFile(
  kubeconfig,
  JSON.stringify({
    'current-context': 'bench',
    contexts: [context],
    clusters: [{ name: 'bench', cluster: { server: url } }],
    users: [{ name: 'bench', user: { token: 'bench' } }],
  }),
);

/** Starts the controller, lets it look at everything, and ends it; answers what that took. */
async function run() {
  await using parts = new Supervisor(directory, clock);
  const [port = 0] = await freePorts(1);
  await parts.start(controllerPart({ kubeconfig, port, agentImage: 'agent', clock }));
  const began = performance.now();
  while ((await reconciled(port)) < configs) await wait(250);
  const seconds = (performance.now() - began) / 1_000;
  await wait(quietMs);
  const pid = parts.pidOf('controller');
  return { seconds, cpuSeconds: await cpuOf(pid), ...(await rssOf(pid)) };
}

const written = async () => (await (await fetch(`${url}/bench`)).json()) as Record<string, number>;
const made = async () => (await written())['POST multinic-agents/jobs'] ?? 0;
const system = '/apis/multinic.io/v1/namespaces/multinic-system/multinicnodeconfigs';
const lists = ['/api/v1/nodes', system, '/apis/batch/v1/namespaces/multinic-agents/jobs'];

/** Returns the CPU time (s) of plain lists; one list takes 0.6 to 1.3 s on the same idle machine. */
async function plainLists(): Promise<number> {
  const plains: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    const { seconds } = await firstLine(start('test/bench/plain-lists.ts', url, ...lists));
    plains.push(Number(seconds));
  }
  return median(plains);
}

// The first one writes each status in its own words; the later ones are restarts.
await run();
const before = await written();
/** Each restart with its own lists: the speed of the machine changes within minutes. */
const restart = async () => ({ ...(await run()), plain: await plainLists() });
const first = await restart();
const after = await written();
const restarts = [first, await restart(), await restart()];
const { seconds, rssMb } = first;
const middle = (of: (one: typeof first) => number) => median(restarts.map(of));
const figures = new Figures();
figures.note(
  'plain lists of Nodes, node configs and Jobs, parsed: CPU',
  `${middle(({ plain }) => plain).toFixed(2)} s`,
);
figures.note(
  `controller, restart with ${configs} Jobs: CPU, median of 3`,
  `${middle(({ cpuSeconds }) => cpuSeconds).toFixed(2)} s`,
);
const times = middle(({ cpuSeconds, plain }) => cpuSeconds / plain);
figures.goal('… over that of the plain lists', times, goals.timesPlainLists, 'times');
figures.goal('Jobs created again', await made(), goals.jobs, 'Jobs');
figures.note('until all objects were checked', `${seconds.toFixed(1)} s; RSS then ${rssMb} MB`);
const statuses = 'PATCH multinicnodeconfigs/status';
figures.note('status writes of the restart', `${(after[statuses] ?? 0) - (before[statuses] ?? 0)}`);
figures.end();
