import { expect, test } from 'vitest';
import { createFakeClock } from '../time/fake-clock.ts';
import { createDeletions } from './deletions.ts';
import type { Server } from './resources.ts';

const { signal } = new AbortController();

function server(id: string, status: string): Server {
  return { id, name: id, status, metadata: {}, projectId: 'p' };
}

test('servers listed as deleted in the last week are; the list is read again after five minutes, a yes never', async () => {
  const clock = createFakeClock();
  const asked: Date[] = [];
  const changed = [server('gone', 'DELETED'), server('here', 'ACTIVE')];
  const nova = {
    async changedSince(since: Date) {
      asked.push(since);
      return new Map(changed.map((one) => [one.id, one]));
    },
  };
  const deletions = createDeletions({ nova, clock, lifetime: signal });
  const both = ['gone', 'here'].map(async (id) => deletions.has(id, signal));
  expect(await Promise.all(both)).toEqual([true, false]);
  expect(asked).toEqual([new Date(clock.now().getTime() - 7 * 86_400_000)]);
  changed.push(server('here', 'DELETED'));
  expect(await deletions.has('here', signal)).toBe(false);
  await clock.advance(5 * 60_000 + 1);
  expect(await deletions.has('gone', signal)).toBe(true);
  expect(asked).toHaveLength(1);
  expect(await deletions.has('here', signal)).toBe(true);
  expect(asked).toHaveLength(2);
});
