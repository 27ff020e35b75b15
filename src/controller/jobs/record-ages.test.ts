import { expect, it } from 'vitest';
import { createFakeClock } from '../../time/fake-clock.ts';
import { RecordAges } from './record-ages.ts';

const start = new Date('2026-01-01T12:00:00Z');

/** A clock with a settable wall time. */
function clockAt() {
  const fake = createFakeClock(start);
  const wall = { offsetMs: 0 };
  const clock = { ...fake, now: () => new Date(fake.now().getTime() + wall.offsetMs) };
  return { clock, wall, advance: (ms: number) => fake.advance(ms) };
}

function record(secondsAgo: number, job = 'a') {
  return { job, at: new Date(start.getTime() - secondsAgo * 1000).toISOString() };
}

it("RecordAges computes the first age from the record's time, never negative", () => {
  const ages = new RecordAges(clockAt().clock);
  expect(ages.of('k', record(90))).toBe(90_000);
  expect(ages.of('ahead', record(-7_200))).toBe(0);
});

it.each([-3, 3])(
  'RecordAges grows by elapsed time, whatever the wall clock is set to (%d h)',
  async (hours) => {
    const { clock, wall, advance } = clockAt();
    const ages = new RecordAges(clock);
    ages.of('k', record(1));
    wall.offsetMs = hours * 3_600_000;
    await advance(5_000);
    expect(ages.of('k', record(1))).toBe(6_000);
  },
);

it('RecordAges restarts for a new record, and for an object forgotten before', async () => {
  const { clock, advance } = clockAt();
  const ages = new RecordAges(clock);
  ages.of('k', record(-60));
  await advance(5_000);
  expect(ages.of('k', record(-60))).toBe(5_000);
  expect(ages.of('k', record(-60, 'b'))).toBe(0);
  ages.of('other', record(-60));
  ages.forget('other');
  await advance(5_000);
  expect(ages.of('other', record(-60))).toBe(0);
});
