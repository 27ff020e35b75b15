import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root, textOf } from './tree.ts';

/** Rows `| behaviour | path |` of the map of rooms. */
const rows = textOf('CONTRIBUTING.md')
  .split('\n')
  .map((line) => /^\| (.+?) \| `([^`]+)` \|$/.exec(line))
  .filter((match) => match !== null)
  .map(([, behaviour, path]) => [behaviour ?? '', path ?? ''] as const);

describe("the map of rooms in CONTRIBUTING's", () => {
  it('names at least twelve behaviours', () => {
    expect(rows.length).toBeGreaterThanOrEqual(12);
  });

  it.each(rows)('%s is at %s', (_behaviour, path) => {
    expect(existsSync(join(root, path))).toBe(true);
  });
});
