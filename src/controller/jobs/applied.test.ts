import { expect, it } from 'vitest';
import { protocol } from '../../api/job.ts';
import { createFakeClock } from '../../time/fake-clock.ts';
import { appliedIn, RecordAges } from './applied.ts';

const start = new Date('2026-01-01T12:00:00Z');

/** A clock whose wall time can be set. */
function clockAt() {
  const fake = createFakeClock(start);
  const wall = { offsetMs: 0 };
  const clock = { ...fake, now: () => new Date(fake.now().getTime() + wall.offsetMs) };
  return { clock, wall, advance: (ms: number) => fake.advance(ms) };
}

function record(secondsAgo: number, job = 'a') {
  return { job, at: new Date(start.getTime() - secondsAgo * 1000).toISOString() };
}

it('a record is as old as its time says when it is first seen', () => {
  const ages = new RecordAges(clockAt().clock);
  expect(ages.of('k', record(90))).toBe(90_000);
  expect(ages.of('ahead', record(-7_200))).toBe(0);
});

it.each([-3, 3])(
  'grows older as time passes, whatever the clock is set to (%d h)',
  async (hours) => {
    const { clock, wall, advance } = clockAt();
    const ages = new RecordAges(clock);
    ages.of('k', record(1));
    wall.offsetMs = hours * 3_600_000;
    await advance(5_000);
    expect(ages.of('k', record(1))).toBe(6_000);
  },
);

it('another record of the object begins anew, and so does one of an object that was gone', async () => {
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

it('what a later version did is known, whatever of its words are not', () => {
  const written = {
    action: 'apply',
    content: 'c',
    nodeName: 'n',
    nodeUid: 'u',
    job: 'j',
    attempt: 1,
    at: start.toISOString(),
    done: true,
    protocol: protocol + 1,
    reasons: ['WaitingForNIC', 'ReasonOfALaterVersion'],
    field: 'of a later version',
  };
  const { field: _, ...known } = written;
  expect(appliedIn({ applied: written })).toEqual({
    ...known,
    protocol,
    reasons: ['WaitingForNIC'],
  });
});
