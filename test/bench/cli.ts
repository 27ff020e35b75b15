// What kubectl multinic takes beside kubectl: `status` and `nics` of 1,000 nodes with 3 NICs against `kubectl get` of the same
// nodes, and its start against that of Node.js. The operator is the real process; kubectl is that of rig/control-plane.
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { bundle } from '../../build/bundler.ts';
import { toolPath } from '../../rig/control-plane/control-plane.ts';
import { bundleFolder, within } from '../../rig/parts/program.ts';
import { namespaces } from '../../src/api/names.ts';
import { openWorld } from '../fixtures/chain/world.ts';
import { Figures } from './figures.ts';
import { applyFor, makeTenant } from './tenants.ts';

const run = promisify(execFile);
const servers = 1_000;
const portsPerServer = 3;
const rounds = 7;
/** Times `kubectl get`, or `node -e 0`. */
const goal = 3;

await bundle(bundleFolder);
const kubectl = await toolPath('kubectl');
await using world = await openWorld([], { poll: '10m' });
const tenant = makeTenant(world, 'bench', servers, portsPerServer);
await applyFor(world, 'bench', tenant);
const delivered = () =>
  world.business.server.objects('multinicnodeconfigs.multinic.io', namespaces.system).length;
while (delivered() < servers) await wait(100);

const kubeconfig = await kubeconfigOf('management');
const business = await kubeconfigOf('business');
const { node, main } = within(bundleFolder);
const PATH = [dirname(kubectl), process.env['PATH']].join(':');
const env = { ...process.env, PATH, KUBECONFIG: kubeconfig, LANG: 'C.UTF-8' };

async function kubeconfigOf(name: 'management' | 'business'): Promise<string> {
  const path = join(world.directory, `bench-${name}.kubeconfig`);
  await writeFile(path, await world[name].server.kubeconfig(), { mode: 0o600 });
  return path;
}

/** Runs a program; returns its output. */
async function output(program: string, ...argv: readonly string[]): Promise<string> {
  const { stdout } = await run(program, argv, { env, maxBuffer: 100_000_000 });
  return stdout;
}

const address = ['--inventory', world.inventoryUrl] as const;
const programs = {
  status: () => output(node, main, 'status', ...address, '--fail-on', 'never'),
  nics: () => output(node, main, 'nics', ...address),
  get: () => output(kubectl, '--kubeconfig', business, 'get', 'multinicnodeconfigs', '-A'),
  start: () => output(node, main, 'version'),
  node: () => output(node, '-e', '0'),
};
type Name = keyof typeof programs;

async function secondsOf(name: Name): Promise<number> {
  const start = performance.now();
  await programs[name]();
  return (performance.now() - start) / 1_000;
}

const measured = new Map<Name, number[]>();
for (let round = 0; round < rounds; round++) {
  for (const name of Object.keys(programs) as Name[]) {
    measured.set(name, [...(measured.get(name) ?? []), await secondsOf(name)]);
  }
}

function median(name: Name): number {
  const values = (measured.get(name) ?? []).toSorted((a, b) => a - b);
  return values[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** Rows of the listing prove that it had all NICs. */
const rows = (await programs.nics()).trimEnd().split('\n').length - 1;
if (rows !== servers * portsPerServer) throw new Error(`nics has ${rows} rows`);
const figures = new Figures();
const seconds = (name: Name) => `${median(name).toFixed(2)} s`;
figures.note(`kubectl get of ${servers} node configs`, seconds('get'));
figures.goal(`multinic status, ${servers} nodes`, median('status') / median('get'), goal, 'times');
figures.note('its time', seconds('status'));
figures.goal(`multinic nics, ${servers} nodes`, median('nics') / median('get'), goal, 'times');
figures.note('its time', seconds('nics'));
figures.goal(
  'start of multinic, beside node -e 0',
  median('start') / median('node'),
  goal,
  'times',
);
figures.note('its time', seconds('start'));
figures.end();
