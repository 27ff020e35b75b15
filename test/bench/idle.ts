// What each part keeps of memory when nothing happens: RSS of the processes of the bundle, started as their images start
// them, a while after they are ready.
import { setTimeout as wait } from 'node:timers/promises';
import { bundle } from '../../build/bundler.ts';
import { bundleFolder } from '../../rig/parts/program.ts';
import { openWorld } from '../fixtures/chain/world.ts';
import { Figures, rssOf } from './figures.ts';

/** Longer than a watch and the pauses of a poll. */
const quietMs = 40_000;
/** The schemas and routes of the read API and of plans cost the operator 4 MB. */
const goalsMb = { operator: 88, viola: 80, controller: 80 } as const;

await bundle(bundleFolder);
await using world = await openWorld([]);
await wait(quietMs);
const figures = new Figures();
for (const [part, goalMb] of Object.entries(goalsMb) as [keyof typeof goalsMb, number][]) {
  const { rssMb, peakMb } = await rssOf(world.parts.pidOf(part));
  figures.goal(`${part}, idle: RSS`, rssMb, goalMb, 'MB');
  figures.note('its peak, while it started', `${peakMb} MB`);
}
figures.end();
