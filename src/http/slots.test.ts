import { expect, it } from 'vitest';
import { Slots } from './slots.ts';

it('releasing a slot leaves other slots with the same key occupied', () => {
  const slots = new Slots(2);
  const first = slots.take('a');
  slots.take('a');
  first();
  slots.take('a');
  expect(() => slots.take('a')).toThrow('2 requests of this caller');
  expect(() => slots.take('b')).not.toThrow();
});
