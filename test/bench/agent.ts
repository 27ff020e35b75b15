// What the agent costs beside what the kernel costs: ten NICs by the agent and the same operations by `ip -batch`, in turn;
// then the agent as a process beside a Node that does nothing. Medians; ratios within one run.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundle } from '../../deploy/bundler.ts';
import { run } from '../../rig/hosts/namespace/command.ts';
import { createHost, type NamespaceHost } from '../../rig/hosts/namespace/host.ts';
import { benchMacs, benchRequest, type Rounds } from './agent-load.ts';
import { Figures } from './figures.ts';

const rounds = 25;
/** Rounds before the just-in-time compiler has settled; the first one stands for a fresh process. */
const warmUp = 5;
const inMemory = 'in memory';
/** Durations of the agent's work may be this many times those of the kernel's. */
const goal = 2;

if (process.getuid?.() !== 0) {
  console.error(
    'The bench of the agent makes network namespaces, which needs root: sudo make bench',
  );
  process.exit(3);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
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

async function section(host: NamespaceHost, place: string): Promise<void> {
  const worker = join(import.meta.dirname, 'agent-rounds.ts');
  const { code, stdout, stderr } = await host.exec(
    process.execPath,
    worker,
    host.root,
    `${rounds}`,
  );
  if (code !== 0) throw new Error(stderr);
  const { operations, apply, again, mutationsAgain, raw } = JSON.parse(stdout) as Rounds;
  const [agent, kernel] = [median(apply.slice(warmUp)), median(raw.slice(warmUp))];
  const where = `files ${place}`;
  figures.note(`raw ip -batch of the same ${operations} operations, ${where}`, ms(kernel));
  const work = `agent, from observing to the committed ${where}`;
  if (place === inMemory) figures.goal(work, agent / kernel, goal, 'times raw');
  else figures.note(work, `${(agent / kernel).toFixed(2)} times raw`);
  figures.note('its time', `${ms(agent)}; in its first round, not compiled, ${ms(apply[0] ?? 0)}`);
  figures.note('a second run that finds everything right', ms(median(again.slice(warmUp))));
  figures.goal(`its mutations, ${where}`, Math.max(...mutationsAgain), 0, 'mutations');
}

/** The agent as its image runs it, from start to exit. */
async function whole(host: NamespaceHost): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'multinic-bundle-'));
  try {
    const started: Record<'node' | 'apply' | 'again', number[]> = {
      node: [],
      apply: [],
      again: [],
    };
    await bundle(directory);
    for (let round = 0; round < 9; round++) {
      started.node.push(await timed(host, ['-e', '0']));
      const asked = join(host.root, 'request');
      const flags = [
        '--request',
        asked,
        '--result',
        join(host.root, 'result'),
        '--host-root',
        host.root,
      ];
      const agent = [join(directory, 'main.mjs'), 'agent', ...flags];
      await writeFile(asked, JSON.stringify(benchRequest('apply', 2 * round)));
      started.apply.push(await timed(host, agent));
      started.again.push(await timed(host, agent));
      await writeFile(asked, JSON.stringify(benchRequest('cleanup', 2 * round + 1)));
      await timed(host, agent);
    }
    const idle = median(started.node);
    const against = (value: number) => `${ms(value)}, ${(value / idle).toFixed(2)} times node -e 0`;
    figures.note('node -e 0, start to exit', ms(idle));
    figures.note('agent process with ten NICs, start to exit', against(median(started.apply)));
    figures.note('agent process with nothing to do, start to exit', against(median(started.again)));
  } finally {
    await rm(directory, { recursive: true });
  }
}

async function timed(host: NamespaceHost, args: readonly string[]): Promise<number> {
  const start = performance.now();
  const { code, stderr } = await host.exec(process.execPath, ...args);
  if (code !== 0) throw new Error(stderr);
  return performance.now() - start;
}

const { stdout: version } = await run('ip', ['-V']);
figures.note('ip', version.trim());
const disk = tmpdir();
await withHost('/dev/shm', (host) => section(host, inMemory));
await withHost(disk, (host) => section(host, 'on disk, synced'));
await withHost(disk, whole);
figures.end();
