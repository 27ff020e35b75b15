import { expect, it } from 'vitest';
import { createFakeClock } from '../../../time/fake-clock.ts';
import { LimitedReads } from './limited-reads.ts';

it('hanging reads of one lane delay neither the reads of another lane nor their own later reads', async () => {
  const clock = createFakeClock();
  const reads = new LimitedReads(clock);
  const hanging = Array.from({ length: 5 }, async () =>
    reads.run('biz-1', async (signal) => {
      await clock.sleep(60_000, signal);
    }),
  );
  const ends = Promise.allSettled(hanging);
  expect(await reads.run('biz-2', async () => 'read')).toBe('read');
  await clock.advance(8_000);
  expect((await ends).map(({ status }) => status)).toEqual(hanging.map(() => 'rejected'));
  expect(await reads.run('biz-1', async () => 'read')).toBe('read');
});
