import { describe, expect, it } from 'vitest';
import { nicReason, refusalReason } from './job.ts';
import { reasons } from './reasons.ts';

describe('the table of reasons', () => {
  it.each(Object.entries(reasons))(
    '%s says what it means and what to do, in both languages',
    (name, row) => {
      expect(name).toMatch(/^[A-Z][A-Za-z]+$/);
      for (const wording of [row.meaning, row.action]) {
        expect(wording.en).toMatch(/^[A-Z].*[.)]$/s);
        expect(wording.ko).toMatch(/[가-힣]/);
      }
    },
  );

  it('has every reason that an agent may report', () => {
    const known = Object.keys(reasons);
    expect(known).toEqual(expect.arrayContaining([...nicReason.options, ...refusalReason.options]));
  });
});
