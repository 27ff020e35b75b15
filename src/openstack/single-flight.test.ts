import { describe, expect, test } from 'vitest';
import { SingleFlight } from './single-flight.ts';

const signal = new AbortController().signal;

describe('SingleFlight', () => {
  test('concurrent callers share one start, later callers start again', async () => {
    const flights = new SingleFlight<number>();
    let starts = 0;
    const start = async (): Promise<number> => {
      starts += 1;
      return starts;
    };
    const results = await Promise.all([
      flights.run('a', signal, start),
      flights.run('a', signal, start),
    ]);
    expect(results).toEqual([1, 1]);
    expect(await flights.run('a', signal, start)).toBe(2);
  });

  test('different keys do not wait for each other', async () => {
    const flights = new SingleFlight<string>();
    const never = flights.run(
      'a',
      AbortSignal.abort(new Error('gone')),
      () => new Promise(() => undefined),
    );
    await expect(never).rejects.toThrow('gone');
    expect(await flights.run('b', signal, async () => 'b')).toBe('b');
  });

  test('an aborted caller leaves the flight running for other callers', async () => {
    const flights = new SingleFlight<string>();
    const gate = Promise.withResolvers<string>();
    const impatient = new AbortController();
    const first = flights.run('a', impatient.signal, async () => gate.promise);
    const second = flights.run('a', signal, async () => 'another flight');
    impatient.abort(new Error('given up'));
    await expect(first).rejects.toThrow('given up');
    gate.resolve('landed');
    expect(await second).toBe('landed');
  });

  test('a failed flight rejects all callers and is not remembered', async () => {
    const flights = new SingleFlight<string>();
    const failing = flights.run('a', signal, async () => {
      throw new Error('failed');
    });
    await expect(failing).rejects.toThrow('failed');
    expect(await flights.run('a', signal, async () => 'well')).toBe('well');
  });
});
