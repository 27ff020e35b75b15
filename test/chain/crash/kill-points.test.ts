import { readdir } from 'node:fs/promises';
import { basename } from 'node:path';
import { expect, it } from 'vitest';
import { killFiles, killPoints, killPointsIn } from '../../fixtures/crash/kill-points.ts';

it('every kill point is in exactly one test file', () => {
  const ids = Object.keys(killFiles).flatMap((name) => killPointsIn(name).map(({ id }) => id));
  expect(ids.toSorted()).toEqual(killPoints.map(({ id }) => id).toSorted());
});

it('every test file with kill points exists, and every test file of this folder has kill points', async () => {
  const files = await readdir(import.meta.dirname);
  const tests = files.filter((name) => name.endsWith('.test.ts'));
  const names = tests.filter((name) => name !== basename(import.meta.filename));
  expect(names).toEqual(
    Object.keys(killFiles)
      .map((name) => `${name}.test.ts`)
      .toSorted(),
  );
});
