// What the agent costs beside what the kernel costs: ten NICs by the agent and the same operations by `ip -batch`, in turn;
// then the agent as a process beside a Node that does nothing. Medians; ratios within one run.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundle } from '../../build/bundler.ts';
import { entryPoint } from '../../build/entry-point.ts';
import { buildAgentSnapshot } from '../../build/image/agent-snapshot/snapshot.ts';
import { run } from '../../rig/hosts/namespace/command.ts';
import { createHost, type NamespaceHost } from '../../rig/hosts/namespace/host.ts';
import type { JobAction } from '../../src/api/job.ts';
import { benchMacs, benchRequest, type Rounds, type Stack } from './agent-load.ts';
import { Figures, median } from './figures.ts';

const rounds = 25;
/** Rounds before the just-in-time compiler has settled; the first one stands for a fresh process. */
const warmUp = 5;
const inMemory = 'in memory';
/** How many times as long as `ip -batch` of the same operations it may take to change the kernel. */
const goals: Readonly<Record<Stack, number>> = { IPv4: 1.3, dual: 2 };

if (process.getuid?.() !== 0) {
  console.error(
    'The bench of the agent makes network namespaces, which needs root: sudo make bench',
  );
  process.exit(3);
}

/** The median of the rounds that count. */
function settled(values: readonly number[]): number {
  return median(values.slice(warmUp));
}

const figures = new Figures();
const ms = (value: number) => `${value.toFixed(1)} ms`;

async function withHost<T>(place: string, work: (host: NamespaceHost) => Promise<T>): Promise<T> {
  // Hosts keep their files where temporary files are.
  process.env['TMPDIR'] = place;
  const nics = Object.fromEntries(benchMacs.map((mac, n) => [`ens${n}`, mac]));
  await using host = await createHost('bench', { nics });
  return await work(host);
}

async function section(host: NamespaceHost, place: string, stack: Stack): Promise<void> {
  const worker = join(import.meta.dirname, 'agent-rounds.ts');
  const { code, stdout, stderr } = await host.exec(
    process.execPath,
    worker,
    host.root,
    `${rounds}`,
    stack,
  );
  if (code !== 0) throw new Error(stderr);
  const { operations, apply, kernel, again, mutationsAgain, lookups, raw } = JSON.parse(
    stdout,
  ) as Rounds;
  const [all, changing, floor] = [settled(apply), settled(kernel), settled(raw)];
  const what = `${stack}, files ${place}`;
  figures.note(`raw ip -batch of the same ${operations} operations, ${what}`, ms(floor));
  const phase = `agent, kernel change and verification, ${what}`;
  figures.goal(phase, changing / floor, goals[stack], 'times raw');
  figures.note('its time', ms(changing));
  // What is probed for duplicates takes the kernel seconds, and tells nothing of the agent.
  if (stack === 'IPv4') {
    const work = `${(all / floor).toFixed(2)} times raw, ${ms(all)}`;
    figures.note('from observing to the committed files', work);
    figures.note('in its first round, not compiled', ms(apply[0] ?? 0));
  }
  figures.note('second run without changes', ms(settled(again)));
  if (stack === 'dual') figures.goal('its route lookups for ten NICs', settled(lookups), 5, 'ms');
  figures.goal(`its mutations, ${what}`, Math.max(...mutationsAgain), 0, 'mutations');
}

interface Used {
  readonly ms: number;
  readonly cpuMs: number;
  readonly peakMb: number;
}

/** Says at its end what a process has used; loaded into it, as its image has nothing of the kind. */
function meter(path: string): string {
  const write = `writeFileSync(${JSON.stringify(path)}, JSON.stringify(process.resourceUsage()))`;
  return `data:text/javascript,import { writeFileSync } from 'node:fs'; process.on('exit', () => ${write})`;
}

/** A process of Node inside, from start to exit. */
async function used(host: NamespaceHost, command: readonly string[], log: string): Promise<Used> {
  const [program = '', ...args] = command;
  const start = performance.now();
  const { code, stderr } = await host.exec(program, ...args);
  const tookMs = performance.now() - start;
  if (code !== 0) throw new Error(stderr);
  const usage = JSON.parse(await readFile(log, 'utf8')) as NodeJS.ResourceUsage;
  const cpuMs = (usage.userCPUTime + usage.systemCPUTime) / 1_000;
  return { ms: tookMs, cpuMs, peakMb: Math.round(usage.maxRSS / 1024) };
}

const foreignRoutes = 30_000;

/** Routes of others, as a node of a large cluster may have. */
async function plantRoutes(host: NamespaceHost): Promise<void> {
  const lines = Array.from(
    { length: foreignRoutes },
    (_, n) => `route add 100.${64 + (n >> 14)}.${(n >> 6) & 255}.${(n & 63) * 4}/30 dev crowd`,
  );
  await host.ip('link', 'add', 'crowd', 'type', 'bridge');
  await host.ip('addr', 'add', '10.201.0.1/24', 'dev', 'crowd');
  await host.ip('link', 'set', 'crowd', 'up');
  const batch = join(host.root, 'routes');
  await writeFile(batch, lines.join('\n'));
  await host.ip('-batch', batch);
}

/** How much of the CPU time of a start from the bundle a start from the snapshot may take. */
const snapshotGoal = 0.75;

/** CPU time of a command inside with its children, in milliseconds; a process from a snapshot loads no meter. */
async function cpuMsOf(host: NamespaceHost, command: readonly string[]): Promise<number> {
  const script = 'TIMEFORMAT=\'CPU %3U %3S\'; time "$@"';
  const { code, stderr } = await host.exec('bash', '-c', script, 'bash', ...command);
  const [, user, system] = /^CPU (\S+) (\S+)$/m.exec(stderr) ?? [];
  if (code !== 0 || user === undefined) throw new Error(stderr);
  return (Number(user) + Number(system)) * 1_000;
}

/** CPU times in milliseconds by start and action. */
type Spent = Map<string, number[]>;

/** Runs the agent from the bundle and from the snapshot, and the same Node.js without work, in turn. */
async function startsIn(host: NamespaceHost, directory: string): Promise<Spent> {
  const [asked, result] = [join(host.root, 'request'), join(host.root, 'result')];
  const options = ['--request', asked, '--result', result, '--host-root', host.root];
  const [node, snapshot] = [process.execPath, join(directory, 'agent.blob')];
  const main = join(directory, 'bundle/main.mjs');
  await bundle(join(directory, 'bundle'));
  await buildAgentSnapshot(node, snapshot, join(directory, 'work'));
  const from = {
    bundle: entryPoint('agent', { node, main }).command,
    snapshot: entryPoint('agent', { node, main, snapshot }).command,
  };
  const spent: Spent = new Map();
  const measure = async (what: string, command: readonly string[]) => {
    spent.set(what, [...(spent.get(what) ?? []), await cpuMsOf(host, command)]);
  };
  let generation = 0;
  for (let round = 0; round < 9; round++) {
    await measure('node', [node, '-e', '0']);
    for (const [name, command] of Object.entries(from)) {
      for (const what of ['apply', 'again', 'cleanup']) {
        generation += 1;
        const action = what === 'cleanup' ? what : 'apply';
        await writeFile(asked, JSON.stringify(benchRequest(action, generation, 'IPv4')));
        await measure(`${name} ${what}`, [...command, ...options]);
      }
    }
  }
  return spent;
}

/** The CPU time of the agent's process from the snapshot of the amd64 image, beside that from the bundle. */
async function starts(host: NamespaceHost): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'multinic-starts-'));
  const spent = await startsIn(host, directory);
  await rm(directory, { recursive: true });
  const of = (what: string) => median(spent.get(what) ?? []);
  figures.note('node -e 0, CPU', ms(of('node')));
  for (const [action, what] of [
    ['apply', 'ten NICs'],
    ['again', 'nothing to do'],
  ] as const) {
    const [bundled, started] = [of(`bundle ${action}`), of(`snapshot ${action}`)];
    const name = `agent process with ${what}, from its snapshot, CPU`;
    figures.goal(name, started / bundled, snapshotGoal, 'times the bundle');
    const times = `${(started / of('node')).toFixed(2)} times node -e 0`;
    figures.note('its time', `${ms(started)}, ${times}; from the bundle ${ms(bundled)}`);
  }
}

/** The agent as its image runs it, from start to exit. */
async function whole(host: NamespaceHost): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'multinic-bundle-'));
  const [asked, usage] = ['request', 'usage'].map((name) => join(host.root, name)) as [
    string,
    string,
  ];
  const flags = ['--import', meter(usage)];
  const { command } = entryPoint('agent', {
    node: process.execPath,
    main: join(directory, 'main.mjs'),
    flags,
  });
  const places = ['--request', asked, '--result', join(host.root, 'result')];
  const agent = [...command, ...places, '--host-root', host.root];
  let generation = 0;
  const runAgent = async (action: JobAction): Promise<Used> => {
    generation += 1;
    await writeFile(asked, JSON.stringify(benchRequest(action, generation, 'IPv4')));
    return used(host, agent, usage);
  };
  const inTurn: Record<'node' | 'apply' | 'again', Used[]> = { node: [], apply: [], again: [] };
  try {
    await bundle(directory);
    for (let round = 0; round < 9; round++) {
      inTurn.node.push(await used(host, [process.execPath, ...flags, '-e', '0'], usage));
      inTurn.apply.push(await runAgent('apply'));
      inTurn.again.push(await runAgent('apply'));
      await runAgent('cleanup');
    }
    await plantRoutes(host);
    const crowded = await runAgent('apply');
    const of = (what: keyof typeof inTurn, figure: keyof Used) =>
      median(inTurn[what].map((one) => one[figure]));
    const idle = of('node', 'ms');
    const against = (what: keyof typeof inTurn) => {
      const took = of(what, 'ms');
      const times = `${(took / idle).toFixed(2)} times node -e 0`;
      return `${ms(took)}, ${times}; CPU ${ms(of(what, 'cpuMs'))}`;
    };
    figures.note('node -e 0, start to exit', against('node'));
    figures.note('agent process with ten NICs, start to exit', against('apply'));
    figures.note('agent process with nothing to do, start to exit', against('again'));
    figures.goal('agent process with ten NICs, peak RSS', of('apply', 'peakMb'), 80, 'MB');
    const routes = `and ${foreignRoutes} foreign routes, peak RSS`;
    figures.goal(routes, crowded.peakMb, 200, 'MB');
  } finally {
    await rm(directory, { recursive: true });
  }
}

const { stdout: version } = await run('ip', ['-V']);
figures.note('ip', version.trim());
const disk = tmpdir();
await withHost('/dev/shm', (host) => section(host, inMemory, 'IPv4'));
await withHost('/dev/shm', (host) => section(host, inMemory, 'dual'));
await withHost(disk, (host) => section(host, 'on disk, synced', 'IPv4'));
await withHost(disk, whole);
await withHost('/dev/shm', starts);
figures.end();
