import { expect, it } from 'vitest';
import { createFakeClock } from '../../../time/fake-clock.ts';
import type { ConfigObject } from '../../model/openstack-config.ts';
import { PollInterval } from './poll-interval.ts';

const polling = { fastMs: 10_000, slowMs: 60_000, errorMs: 5_000, windowMs: 300_000 };
const quiet = { changed: false, waiting: false, downPorts: false };

const object = (generation = 1): ConfigObject => ({
  metadata: { namespace: 'ns', name: 'osc', uid: 'first', generation },
  status: { observedGeneration: 1 },
});

function begun({ random = 0.5, clock = createFakeClock() } = {}): PollInterval {
  const pollInterval = new PollInterval({ clock, random: () => random });
  pollInterval.begin(object());
  return pollInterval;
}

it('an edited OpenstackConfig is polled fast during the fast window', async () => {
  const clock = createFakeClock();
  const pollInterval = begun({ clock });
  expect(pollInterval.maxAgeMs(polling)).toBe(30_000);
  pollInterval.begin(object(2));
  expect(pollInterval.maxAgeMs(polling)).toBe(5_000);
  await clock.advance(300_000);
  pollInterval.begin(object(2));
  expect(pollInterval.maxAgeMs(polling)).toBe(30_000);
});

it('an OpenstackConfig is polled fast while a node waits or a port is DOWN, long after the last change', () => {
  const pollInterval = begun();
  expect(pollInterval.afterSync(polling, quiet)).toBe(60_000);
  expect(pollInterval.afterSync(polling, { ...quiet, waiting: true })).toBe(10_000);
  expect(pollInterval.afterSync(polling, { ...quiet, downPorts: true })).toBe(10_000);
});

it.each(['fastMs', 'slowMs'] as const)('a poll interval is 10 minutes at most: %s', (key) => {
  const hours = { ...polling, [key]: 7_200_000 };
  const changed = key === 'fastMs';
  const wait = (random: number) => begun({ random }).afterSync(hours, { ...quiet, changed });
  expect(wait(1)).toBeCloseTo(600_000);
  // Jitter spreads the OpenstackConfigs.
  expect(wait(0)).toBeCloseTo(400_000);
});

it('a failed sync is retried after Retry-After, but not before the error interval', () => {
  const pollInterval = begun();
  const waits = [60_000, 60_000, 1_000, 3_600_000].map((retryAfterMs) =>
    pollInterval.afterFailure(polling, retryAfterMs),
  );
  expect(waits).toEqual([60_000, 60_000, 20_000, 300_000]);
  // Backoff without Retry-After.
  expect(pollInterval.afterFailure(polling, undefined)).toBe(80_000);
});
