import { expect, test } from 'vitest';
import { createFakeClock } from '../../time/fake-clock.ts';
import { StillRunning, together } from './together.ts';

/** Work that ends on abort and logs the reason. */
function obedient(log: string[], name: string) {
  return (signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => {
        log.push(`${name}: ${String(signal.reason)}`);
        resolve();
      });
    });
}

test('together ends when the signal aborts and all work has ended', async () => {
  const stop = new AbortController();
  const log: string[] = [];
  const both = { a: obedient(log, 'a'), b: obedient(log, 'b') };
  const running = together(stop.signal, createFakeClock(), both);
  stop.abort(new Error('SIGTERM'));
  await running;
  expect(log).toEqual(['a: Error: SIGTERM', 'b: Error: SIGTERM']);
});

test.each([
  ['fails', () => Promise.reject(new Error('broken')), 'broken'],
  [
    'throws at once',
    () => {
      throw new Error('broken');
    },
    'broken',
  ],
  ['ends by itself', () => Promise.resolve(), 'b ended without a request to stop'],
])(
  'together aborts all other work when one run %s, and throws its error',
  async (_, b, message) => {
    const log: string[] = [];
    const { signal } = new AbortController();
    const running = together(signal, createFakeClock(), { a: obedient(log, 'a'), b });
    await expect(running).rejects.toThrow(message);
    expect(log).toEqual([`a: Error: ${message}`]);
  },
);

const stuck = () => new Promise<void>(() => undefined);
const failing = () => Promise.reject(new Error('broken'));

test('together throws StillRunning when work does not end after a failure', async () => {
  const clock = createFakeClock();
  const outcome = together(new AbortController().signal, clock, { stuck, failing }).catch(
    (error: unknown) => error,
  );
  await clock.advance(10_000);
  const error = await outcome;
  expect(error).toBeInstanceOf(StillRunning);
  expect(error).toMatchObject({ cause: new Error('broken') });
});
