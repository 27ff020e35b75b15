// Memory of the operator with 1,000 servers of 3 ports each: RSS of the bundle's process, started as its image starts it,
// during syncs against stand-ins for everything else.
import { setTimeout as wait } from 'node:timers/promises';
import { bundle } from '../../build/bundler.ts';
import { bundleFolder } from '../../rig/parts/program.ts';
import { namespaces } from '../../src/api/names.ts';
import { openWorld } from '../fixtures/chain/world.ts';
import { Figures, median, rssOf } from './figures.ts';
import { applyFor, makeTenant } from './tenants.ts';

const servers = 1_000;
const portsPerServer = 3;
const goalMb = 128;
/** As shipped after a change; with nothing new it polls six times less often. */
const poll = '20s';
/** Five syncs: after each, V8 holds 30 MB more for some seconds. */
const samples = 20;
const sampleMs = 5_000;

await bundle(bundleFolder);
await using world = await openWorld([], { poll });
const tenant = makeTenant(world, 'bench', servers, portsPerServer);
await applyFor(world, 'bench', tenant);
const delivered = () =>
  world.business.server.objects('multinicnodeconfigs.multinic.io', namespaces.system).length;
while (delivered() < servers) await wait(100);
const taken: Awaited<ReturnType<typeof rssOf>>[] = [];
while (taken.length < samples) {
  await wait(sampleMs);
  taken.push(await rssOf(world.parts.pidOf('operator')));
}
const sizes = taken.map(({ rssMb }) => rssMb);
const figures = new Figures();
figures.goal(
  `operator, ${servers} servers with ${portsPerServer} ports: RSS, median`,
  median(sizes),
  goalMb,
  'MB',
);
figures.note('between', `${Math.min(...sizes)} and ${Math.max(...sizes)} MB`);
figures.note('its peak', `${taken.at(-1)?.peakMb} MB`);
figures.end();
