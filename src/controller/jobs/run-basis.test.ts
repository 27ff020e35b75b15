import { expect, it } from 'vitest';
import { maxRemoved } from '../../api/applied-record.ts';
import { type StartedRemovals, startedFields } from './run-basis.ts';

const act = { action: 'apply', content: 'c', generation: 1, nodeName: 'n' } as const;
const macOf = (n: number) => `fa:16:3e:00:${Math.floor(n / 100)}:${n % 100}`;

it('a record keeps at most as many removals as its schema allows, and those that count longest', () => {
  const start = Date.parse('2026-11-26T10:00:00Z');
  let last: StartedRemovals['last'];
  for (let n = 0; n < maxRemoved + 50; n += 1) {
    const now = new Date(start + n * 1_000);
    const basis = n < 100 ? 'named' : 'evidence';
    const fields = startedFields(act, { last, removals: [{ mac: macOf(n), basis }] }, now);
    last = { ...act, ...fields };
  }
  const removed = last?.removed ?? [];
  expect(removed.length).toBeLessThanOrEqual(maxRemoved);
  expect(removed.filter(({ basis }) => basis === 'named')).toHaveLength(100);
  expect(removed.at(-1)?.mac).toBe(macOf(maxRemoved + 49));
});
