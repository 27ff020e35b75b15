import { expect, it } from 'vitest';
import { createFakeClock } from '../../time/fake-clock.ts';
import type { ConfigObject } from '../openstack-config.ts';
import { Pace } from './poll-interval.ts';

const polling = { fastMs: 10_000, slowMs: 60_000, errorMs: 5_000, windowMs: 300_000 };

function object(uid: string): ConfigObject {
  const metadata = { namespace: 'ns', name: 'osc', uid, generation: 1 };
  return { metadata, status: { observedGeneration: 1 } };
}

it('an OpenstackConfig that was made anew under its name is looked at as a new one', async () => {
  const clock = createFakeClock();
  const pace = new Pace({ clock, random: () => 0.5 });
  pace.begin(object('first'));
  expect(pace.maxAgeMs(object('first'), polling)).toBe(30_000);
  pace.begin(object('second'));
  expect(pace.maxAgeMs(object('second'), polling)).toBe(5_000);
  await clock.advance(300_000);
  pace.begin(object('second'));
  expect(pace.maxAgeMs(object('second'), polling)).toBe(30_000);
});

it('what ends soon elsewhere is looked at soon, however long ago anything changed', () => {
  const clock = createFakeClock();
  const pace = new Pace({ clock, random: () => 0.5 });
  pace.begin(object('first'));
  const quiet = { changed: false, waiting: false, downPorts: false };
  expect(pace.afterSync(object('first'), polling, quiet)).toBe(60_000);
  expect(pace.afterSync(object('first'), polling, { ...quiet, waiting: true })).toBe(10_000);
  expect(pace.afterSync(object('first'), polling, { ...quiet, downPorts: true })).toBe(10_000);
});

it.each(['fastMs', 'slowMs'] as const)('a look never waits longer than 10 minutes: %s', (key) => {
  const clock = createFakeClock();
  const quiet = { changed: key === 'fastMs', waiting: false, downPorts: false };
  const hours = { ...polling, [key]: 7_200_000 };
  const wait = (random: number) => {
    const pace = new Pace({ clock, random: () => random });
    pace.begin(object('first'));
    return pace.afterSync(object('first'), hours, quiet);
  };
  expect(wait(1)).toBeCloseTo(600_000);
  // Not all of them at once.
  expect(wait(0)).toBeCloseTo(400_000);
});

it('what failed is looked at again when whoever failed is asked again, but no sooner than errors are', () => {
  const pace = new Pace({ clock: createFakeClock(), random: () => 0.5 });
  pace.begin(object('first'));
  const waits = [60_000, 60_000, 1_000, 3_600_000].map((retryAfterMs) =>
    pace.afterFailure(object('first'), polling, retryAfterMs),
  );
  expect(waits).toEqual([60_000, 60_000, 20_000, 300_000]);
  // Nobody knows when it is over: ever later.
  expect(pace.afterFailure(object('first'), polling, undefined)).toBe(80_000);
});
