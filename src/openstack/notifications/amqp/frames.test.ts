import { expect, it } from 'vitest';
import { encodeFrame, type Frame, FrameReader, longestFrame } from './frames.ts';

const beat = { type: 8, channel: 0, payload: Buffer.alloc(0) };
const methodFrame = { type: 1, channel: 2, payload: Buffer.from('a method') };

/** Returns the frames read from `bytes`, split at these offsets. */
function read(bytes: Buffer, ...ends: readonly number[]): Frame[] {
  const reader = new FrameReader();
  const starts = [0, ...ends];
  return starts.flatMap((start, n) => [...reader.read(bytes.subarray(start, starts[n + 1]))]);
}

it('frames are complete wherever the bytes are split', () => {
  const bytes = Buffer.concat([beat, methodFrame, beat].map(encodeFrame));
  const places = [...bytes.keys()].slice(1);
  for (const place of places) expect(read(bytes, place)).toEqual([beat, methodFrame, beat]);
  expect(read(bytes, ...places)).toEqual([beat, methodFrame, beat]);
});

it('the longest frame is accepted, and a frame one byte longer is refused', () => {
  const longest = { type: 3, channel: 1, payload: Buffer.alloc(longestFrame - 8) };
  expect(read(encodeFrame(longest))).toEqual([longest]);
  const longer = { ...longest, payload: Buffer.alloc(longestFrame - 7) };
  expect(() => read(encodeFrame(longer))).toThrow('a frame of 131065 bytes');
});
