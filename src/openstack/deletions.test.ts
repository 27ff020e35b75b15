import { expect, test } from 'vitest';
import { createFakeClock } from '../time/fake-clock.ts';
import { createDeletions } from './deletions.ts';
import type { Server } from './resources.ts';

const { signal } = new AbortController();

function server(id: string, status: string): Server {
  return { id, name: id, status, metadata: {}, projectId: 'p' };
}

test('servers deleted within 7 days are reported; the list is cached for 5 minutes, a positive answer forever', async () => {
  const clock = createFakeClock();
  const sinceTimes: Date[] = [];
  const soft = server('soft', 'SOFT_DELETED');
  const changed = [server('gone', 'DELETED'), server('here', 'ACTIVE'), soft];
  const nova = {
    async changedSince(since: Date) {
      sinceTimes.push(since);
      return new Map(changed.map((one) => [one.id, one]));
    },
  };
  const deletions = createDeletions({ nova, clock, lifetime: signal });
  const results = ['gone', 'here'].map(async (id) => deletions.has(id, signal));
  expect(await Promise.all(results)).toEqual([true, false]);
  expect(sinceTimes).toEqual([new Date(clock.now().getTime() - 7 * 86_400_000)]);
  expect(await deletions.has('soft', signal)).toBe(false);
  expect(await deletions.soft(signal)).toEqual(new Map([['soft', soft]]));
  changed.push(server('here', 'DELETED'));
  expect(await deletions.has('here', signal)).toBe(false);
  await clock.advance(5 * 60_000 + 1);
  expect(await deletions.has('gone', signal)).toBe(true);
  expect(sinceTimes).toHaveLength(1);
  expect(await deletions.has('here', signal)).toBe(true);
  expect(sinceTimes).toHaveLength(2);
});
