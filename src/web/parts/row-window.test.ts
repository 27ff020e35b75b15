import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { rowWindow } from './row-window.ts';

const views = fc.record({
  rows: fc.nat(10_000),
  rowHeight: fc.integer({ min: 20, max: 60 }),
  top: fc.nat(700_000),
  height: fc.integer({ min: 0, max: 2_000 }),
});

it('the window has all rows in sight, few more, and gaps for the rest', () => {
  fc.assert(
    fc.property(views, (view) => {
      const { rows, rowHeight, top, height } = view;
      const { first, end, above, below } = rowWindow(view);
      expect(above + (end - first) * rowHeight + below).toBe(rows * rowHeight);
      expect(end - first).toBeLessThanOrEqual(Math.ceil(height / rowHeight) + 6);
      const firstInSight = Math.min(rows - 1, Math.floor(top / rowHeight));
      const lastInSight = Math.min(rows - 1, Math.floor((top + height) / rowHeight));
      if (rows === 0) return;
      expect(first).toBeLessThanOrEqual(firstInSight);
      expect(end).toBeGreaterThan(lastInSight);
    }),
  );
});
