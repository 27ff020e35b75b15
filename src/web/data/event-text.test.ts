import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { EventText } from './event-text.ts';

const stream = [
  ': heartbeat\nid: r-1\n\n',
  'id: r-2\ndata: {"kind":"node","key":"한글"}\n\n',
  'event: reset\nid: r-3\ndata: {}\n\n',
].join('');

it('events are the same wherever the network cuts the stream', () => {
  const cuts = fc.array(fc.nat(stream.length), { maxLength: 8 });
  fc.assert(
    fc.property(cuts, (positions) => {
      const text = new EventText();
      const ordered = [0, ...positions.toSorted((a, b) => a - b), stream.length];
      const events = ordered.flatMap((end, at) =>
        text.take(stream.slice(ordered[at - 1] ?? 0, end)),
      );
      expect(events).toEqual([
        { name: 'message', data: '{"kind":"node","key":"한글"}' },
        { name: 'reset', data: '{}' },
      ]);
      expect(text.lastId).toBe('r-3');
    }),
  );
});

it('a cut event of the former connection does not reach the next connection', () => {
  const text = new EventText();
  text.take('id: r-1\ndata: {"half');
  text.restart();
  expect(text.take('data: {}\n\n')).toEqual([{ name: 'message', data: '{}' }]);
  expect(text.lastId).toBeUndefined();
});
