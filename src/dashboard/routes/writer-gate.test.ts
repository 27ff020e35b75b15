import { expect, it } from 'vitest';
import { settled } from '../../time/fake-clock.ts';
import { WriterGate } from './writer-gate.ts';

const connected = new AbortController().signal;

it('a waiting action does not start after the browser left', async () => {
  const gate = new WriterGate();
  const first = Promise.withResolvers<string>();
  const started: string[] = [];
  const leaving = new AbortController();
  const act = (name: string, signal: AbortSignal) =>
    gate.run(signal, async () => {
      started.push(name);
      return first.promise;
    });
  const actions = [act('first', connected), act('gone', leaving.signal), act('last', connected)];
  leaving.abort(new Error('the browser left'));
  first.resolve('done');
  expect(await Promise.allSettled(actions)).toMatchObject([
    { value: 'done' },
    { reason: { message: 'the browser left' } },
    { value: 'done' },
  ]);
  expect(started).toEqual(['first', 'last']);
});

it('the ninth waiting action gets 429, and a later action runs', async () => {
  const gate = new WriterGate();
  const first = Promise.withResolvers<void>();
  const running = gate.run(connected, () => first.promise);
  await settled();
  const waiting = Array.from({ length: 8 }, () => gate.run(connected, async () => 'done'));
  await expect(gate.run(connected, async () => 'done')).rejects.toMatchObject({ status: 429 });
  first.resolve();
  await running;
  expect(await Promise.all(waiting)).toEqual(waiting.map(() => 'done'));
  expect(await gate.run(connected, async () => 'later')).toBe('later');
});
