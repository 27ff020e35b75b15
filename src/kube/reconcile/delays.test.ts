import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Delays } from './delays.ts';

test('Delays returns each key once, at its earliest due time', () => {
  const addition = fc.record({ key: fc.constantFrom('a', 'b', 'c', 'd', 'e'), due: fc.nat(50) });
  fc.assert(
    fc.property(fc.array(addition, { maxLength: 60 }), (additions) => {
      const delays = new Delays();
      const earliest = new Map<string, number>();
      for (const { key, due } of additions) {
        delays.add(key, due);
        earliest.set(key, Math.min(due, earliest.get(key) ?? due));
      }
      expect(delays.size).toBe(earliest.size);
      const taken: [string, number][] = [];
      for (let now = 0; now <= 50; now++) {
        for (let key = delays.takeDue(now); key !== undefined; key = delays.takeDue(now)) {
          taken.push([key, now]);
        }
      }
      expect(new Map(taken)).toEqual(earliest);
      expect([taken.length, delays.size, delays.next]).toEqual([earliest.size, 0, undefined]);
    }),
  );
});

test('Delays accepts a taken key again', () => {
  const delays = new Delays();
  delays.add('a', 5);
  expect(delays.takeDue(4)).toBeUndefined();
  expect(delays.takeDue(5)).toBe('a');
  delays.add('a', 9);
  expect([delays.has('a'), delays.next]).toEqual([true, 9]);
});
