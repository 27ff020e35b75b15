// What the operator keeps of memory when it looks after 1,000 servers with 3 ports each: RSS of the process of the bundle,
// started as its image starts it, after syncs against stand-ins for everything else.
import { setTimeout as wait } from 'node:timers/promises';
import { bundle } from '../../build/bundler.ts';
import { bundleFolder } from '../../rig/parts/program.ts';
import { namespaces } from '../../src/api/names.ts';
import { openWorld } from '../fixtures/chain/world.ts';
import { Figures, rssOf } from './figures.ts';
import { applyFor, makeTenant } from './tenants.ts';

const servers = 1_000;
const portsPerServer = 3;
const goalMb = 128;
/** As shipped after a change; with nothing new it polls six times less often. */
const poll = '20s';
/** Five syncs. */
const syncingMs = 100_000;

await bundle(bundleFolder);
await using world = await openWorld([], { poll });
const tenant = makeTenant(world, 'bench', servers, portsPerServer);
await applyFor(world, 'bench', tenant);
const delivered = () =>
  world.business.server.objects('multinicnodeconfigs.multinic.io', namespaces.system).length;
while (delivered() < servers) await wait(100);
await wait(syncingMs);
const { rssMb, peakMb } = await rssOf(world.parts.pidOf('operator'));
const figures = new Figures();
figures.goal(`operator, ${servers} servers with ${portsPerServer} ports: RSS`, rssMb, goalMb, 'MB');
figures.note('its peak', `${peakMb} MB`);
figures.end();
