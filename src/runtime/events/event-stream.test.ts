import { expect, it } from 'vitest';
import { settled } from '../../time/fake-clock.ts';
import { EventStream, longestStallMs } from './event-stream.ts';
import { changeText } from './event-text.ts';
import { Ring, ringSize } from './ring.ts';

const data = 'x'.repeat(500);

function openStream(ring: Ring<string>, lastEventId?: string) {
  return new EventStream<string>({
    ring,
    lastEventId,
    now: 0,
    endsAt: 600_000,
    textOf: (entry, number) => changeText(ring.idOf(number), entry),
    isAdmitted: async () => true,
  });
}

/** Makes 1,000 changes a second. */
function addSecond(ring: Ring<string>, streams: readonly EventStream<string>[]): void {
  for (let n = 0; n < 1_000; n++) ring.add(data);
  for (const stream of streams) stream.flush();
}

it('a reader behind the ring is dropped, with a bounded buffer, and a fast reader gets every change', async () => {
  const ring = new Ring<string>('ring');
  const [slow, fast] = [openStream(ring), openStream(ring)];
  let text = '';
  fast.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  await settled();
  for (let second = 0; second < ringSize / 1_000; second++) {
    addSecond(ring, [slow, fast]);
    await settled();
    expect(slow.destroyed).toBe(false);
    expect(slow.readableLength).toBeLessThan(slow.readableHighWaterMark + 1_000);
  }
  for (let second = 0; second < 2; second++) {
    addSecond(ring, [slow, fast]);
    await settled();
  }
  expect(slow.destroyed).toBe(true);
  expect(text.match(/^data: /gm)).toHaveLength(ring.last);
});

it('a stalled reader is dropped after 30 s with pending text, and an idle reader stays', () => {
  const ring = new Ring<string>('ring');
  const [stalled, idle] = [openStream(ring), openStream(ring)];
  idle.resume();
  addSecond(ring, [stalled]);
  for (const now of [0, longestStallMs - 1]) {
    stalled.tick(now);
    idle.tick(now);
  }
  expect(stalled.destroyed).toBe(false);
  for (const stream of [stalled, idle]) stream.tick(longestStallMs);
  expect([stalled.destroyed, idle.destroyed]).toEqual([true, false]);
});

it.each([
  ['the change before the oldest', 2_000, 0],
  ['a forgotten change', 1_999, 1],
])('a resume after %s sends %s resets', async (...row) => {
  const [, number, resets] = row;
  const ring = new Ring<string>('ring');
  for (let second = 0; second < 12; second++) addSecond(ring, []);
  const stream = openStream(ring, `ring-${number}`);
  const text = String(stream.setEncoding('utf8').read());
  expect(text.match(/^event: reset$/gm) ?? []).toHaveLength(resets);
  stream.destroy();
});
