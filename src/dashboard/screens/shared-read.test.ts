import { expect, it } from 'vitest';
import { createFakeClock, settled } from '../../time/fake-clock.ts';
import { SharedRead } from './shared-read.ts';

/** Starts a shared read whose results come from the test. */
function scripted() {
  const clock = createFakeClock();
  const runs: (PromiseWithResolvers<string> & { readonly signal: AbortSignal })[] = [];
  const read = (signal: AbortSignal) => {
    const run = Promise.withResolvers<string>();
    runs.push({ ...run, signal });
    return run.promise;
  };
  return { clock, runs, shared: new SharedRead({ clock, pauseMs: 10_000, read }) };
}

const { signal } = new AbortController();

it('callers share a running read, and its value until the pause has passed since its start', async () => {
  const { clock, runs, shared } = scripted();
  const both = Promise.all([shared.value(signal), shared.value(signal)]);
  await clock.advance(9_000);
  runs[0]?.resolve('first');
  expect(await both).toEqual(['first', 'first']);
  expect(await shared.value(signal)).toBe('first');
  expect(runs).toHaveLength(1);
  await clock.advance(1_000);
  const later = shared.value(signal);
  expect(runs).toHaveLength(2);
  expect(shared.latest).toBe('first');
  runs[1]?.resolve('second');
  expect(await later).toBe('second');
});

it('a read goes on while a caller waits, and ends with the last caller', async () => {
  const { runs, shared } = scripted();
  const [one, two] = [new AbortController(), new AbortController()];
  const values = [shared.value(one.signal), shared.value(two.signal)];
  const rejected = values.map((value) => expect(value).rejects.toThrow('left'));
  one.abort(new Error('left'));
  await settled();
  expect(runs[0]?.signal.aborted).toBe(false);
  two.abort(new Error('left'));
  await Promise.all(rejected);
  expect(runs[0]?.signal.aborted).toBe(true);
  runs[0]?.resolve('late');
  await settled();
  expect(shared.latest).toBeUndefined();
});

it('a failed read is no value: the next caller reads again at once', async () => {
  const { runs, shared } = scripted();
  const failed = shared.value(signal);
  runs[0]?.reject(new Error('no cluster'));
  await expect(failed).rejects.toThrow('no cluster');
  const next = shared.value(signal);
  runs[1]?.resolve('read');
  expect(await next).toBe('read');
});
