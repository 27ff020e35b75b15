import { expect, it } from 'vitest';
import { wordFilter } from './filter.ts';

it("--reason of a newer operator's row stays valid during --watch after the row's last read", () => {
  const row = { state: 'Failed', reason: 'NewReason' };
  const filter = wordFilter({ reason: 'NewReason' });
  expect([filter([row]), filter([])]).toEqual([[row], []]);
  expect(() => wordFilter({ reason: 'NewReason' })([])).toThrow('NewReason');
});
