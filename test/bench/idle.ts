// What each part keeps of memory when nothing happens: RSS of the processes of the bundle, started as their images start
// them, a while after they are ready.
import { setTimeout as wait } from 'node:timers/promises';
import { bundle } from '../../build/bundler.ts';
import { bundleFolder } from '../../rig/parts/program.ts';
import { openWorld } from '../fixtures/chain/world.ts';
import { Figures, rssOf } from './figures.ts';

const goalMb = 80;
/** Longer than a watch and the pauses of a poll. */
const quietMs = 40_000;
const parts = ['operator', 'viola', 'controller'] as const;

await bundle(bundleFolder);
await using world = await openWorld([]);
await wait(quietMs);
const figures = new Figures();
for (const part of parts) {
  const { rssMb, peakMb } = await rssOf(world.parts.pidOf(part));
  figures.goal(`${part}, idle: RSS`, rssMb, goalMb, 'MB');
  figures.note('its peak, while it started', `${peakMb} MB`);
}
figures.end();
