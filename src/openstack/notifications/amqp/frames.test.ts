import { expect, it } from 'vitest';
import { encodeFrame, type Frame, FrameReader, longestFrame } from './frames.ts';

const beat = { type: 8, channel: 0, payload: Buffer.alloc(0) };
const said = { type: 1, channel: 2, payload: Buffer.from('a method') };

/** What is read when it comes in pieces that end at these places. */
function read(bytes: Buffer, ...ends: readonly number[]): Frame[] {
  const reader = new FrameReader();
  const starts = [0, ...ends];
  return starts.flatMap((start, n) => [...reader.read(bytes.subarray(start, starts[n + 1]))]);
}

it('frames are whole wherever they are cut', () => {
  const bytes = Buffer.concat([beat, said, beat].map(encodeFrame));
  const places = [...bytes.keys()].slice(1);
  for (const place of places) expect(read(bytes, place)).toEqual([beat, said, beat]);
  expect(read(bytes, ...places)).toEqual([beat, said, beat]);
});

it('the longest frame is taken, and none that is a byte longer', () => {
  const longest = { type: 3, channel: 1, payload: Buffer.alloc(longestFrame - 8) };
  expect(read(encodeFrame(longest))).toEqual([longest]);
  const longer = { ...longest, payload: Buffer.alloc(longestFrame - 7) };
  expect(() => read(encodeFrame(longer))).toThrow('a frame of 131065 bytes');
});
