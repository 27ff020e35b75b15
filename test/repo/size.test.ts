import { describe, expect, it } from 'vitest';
import { filesBelow, linesOf } from './tree.ts';

const sources = [...filesBelow('src'), ...filesBelow('rig')].filter(
  (path) => /\.tsx?$/.test(path) && !/\.test\.tsx?$/.test(path),
);

describe('source files', () => {
  it('have at most 400 lines', () => {
    expect(sources.filter((path) => linesOf(path) > 400)).toEqual([]);
  });

  it('have a median of at most 100 lines', () => {
    const lengths = sources.map(linesOf).toSorted((a, b) => a - b);
    expect(lengths[Math.floor(lengths.length / 2)]).toBeLessThanOrEqual(100);
  });

  it('have names that say what is in them', () => {
    const vague = /(^|\/)(utils?|helpers?|common|types|misc|index)\.tsx?$/;
    expect(sources.filter((path) => vague.test(path))).toEqual([]);
  });
});
