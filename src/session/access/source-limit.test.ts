import { expect, it } from 'vitest';
import { DeadlineReached } from '../../time/deadline.ts';
import { createFakeClock } from '../../time/fake-clock.ts';
import { SourceLimit } from './source-limit.ts';

const never = () => new Promise<never>(() => undefined);

it.each([
  ['a silent source gets no second call', undefined, 0],
  ['a source with an earlier answer gets a second call', () => Promise.resolve(1), 1],
  [
    'a source with an earlier refusal gets a second call',
    () => Promise.reject(new Error('403')),
    1,
  ],
] as const)('%s', async (_, earlier, calls) => {
  const clock = createFakeClock();
  const limit = new SourceLimit({ clock, ms: 10_000 });
  if (earlier) await Promise.allSettled([limit.call<unknown>(earlier)]);
  const silent = limit.call(never).catch((error: unknown) => error);
  await clock.advance(10_000);
  expect(await silent).toBeInstanceOf(DeadlineReached);
  let count = 0;
  const again = limit.call(() => Promise.resolve(count++)).catch((error: unknown) => error);
  await again;
  expect(count).toBe(calls);
});
