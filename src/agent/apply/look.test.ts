import { describe, expect, test } from 'vitest';
import { createFakeClock } from '../../time/fake-clock.ts';
import { lookUntil } from './look.ts';

describe('looking at the kernel', () => {
  test('takes the first look at once', async () => {
    const clock = createFakeClock();
    expect(
      await lookUntil(
        async () => 'there',
        () => true,
        clock,
      ),
    ).toBe('there');
    expect(clock.waits.length).toBe(0);
  });

  test('looks again until it is there', async () => {
    const clock = createFakeClock();
    let looks = 0;
    const looking = lookUntil(
      async () => ++looks,
      (n) => n === 3,
      clock,
    );
    await clock.advance(100);
    expect(await looking).toBe(3);
  });

  test('gives up after three seconds with what it saw last', async () => {
    const clock = createFakeClock();
    let looks = 0;
    const looking = lookUntil(
      async () => ++looks,
      () => false,
      clock,
    );
    await clock.advance(2_950);
    expect(clock.waits.length).toBe(1);
    await clock.advance(50);
    expect(await looking).toBe(61);
  });
});
