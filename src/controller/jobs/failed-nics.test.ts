import { expect, it } from 'vitest';
import { nicResult } from '../../../test/fixtures/controller-samples.ts';
import { failedIn, hasFailed, hashesAfter, hashesAtStart } from './failed-nics.ts';

const [a, b] = ['fa:16:3e:00:00:0a', 'fa:16:3e:00:00:0b'];
const fails = { state: 'Failed', reason: 'ApplyFailed' } as const;
const failedRun = { nics: [nicResult(0, { mac: a, ...fails }), nicResult(1, { mac: b })] };

it('a failed NIC stays failed through runs without the NIC, until a run succeeds for the NIC', () => {
  const first = hashesAfter({ [a]: 'one', [b]: 'two' }, failedRun);
  expect(failedIn(first)).toEqual([a]);
  const without = hashesAfter(hashesAtStart(first), { nics: [nicResult(1, { mac: b })] });
  expect(hasFailed({ done: true, nics: without })).toBe(true);
  const retry = hashesAtStart({ [a]: 'new', [b]: 'two' }, without);
  expect(hasFailed({ nics: retry })).toBe(true);
  const last = hashesAfter(retry, { nics: [nicResult(0, { mac: a.toUpperCase() })] });
  expect(last).toEqual({ [a]: 'new', [b]: 'two' });
  expect([true, undefined, false].map((done) => hasFailed({ done, nics: last }))).toEqual([
    false,
    false,
    true,
  ]);
});
