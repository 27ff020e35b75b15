import { expect, it } from 'vitest';
import { startApiServer } from '../../../rig/apiserver/server.ts';
import { randomOf, runContest } from './contest.ts';

it('of three candidates whose connections hang, break and lie, one leads at a time', async () => {
  await using api = await startApiServer();
  const contests = [1, 2, 3, 4].map((seed) =>
    runContest({
      api,
      name: `lease-${seed}`,
      random: randomOf(seed),
      leaseMs: 1_500,
      lastsMs: 6_000,
    }),
  );
  const results = await Promise.all(contests);
  const total = (of: (result: (typeof results)[number]) => number) =>
    results.reduce((sum, result) => sum + of(result), 0);
  expect(total(({ overlaps, lateWrites, overruns }) => overlaps + lateWrites + overruns)).toBe(0);
  expect(total(({ terms }) => terms)).toBeGreaterThanOrEqual(4);
  expect(total(({ faults }) => faults)).toBeGreaterThan(0);
});
