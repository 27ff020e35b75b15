import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/longest-first.ts';
import './test/node-version.ts';
import { scaled } from './test/speed.ts';

/** Files that run at once where the stage names no number: most tests wait more than they compute. */
const maxWorkers = Number(
  process.env['MULTINIC_TEST_WORKERS'] ?? Math.max(3, availableParallelism()),
);

// Limits only end what hangs; tests wait for states. They grow with the slowness of the machine.
const shared = {
  isolate: false,
  maxWorkers,
  testTimeout: scaled(60_000),
  hookTimeout: scaled(120_000),
  expect: { poll: { timeout: scaled(30_000) } },
};
// Tests on processes run the files of the images.
const processes = { ...shared, globalSetup: './test/bundle.ts' };
// Tests on real parts take much of a machine: one file at a time unless the stage names more workers.
const real = {
  ...processes,
  fileParallelism: Number(process.env['MULTINIC_TEST_WORKERS'] ?? 1) > 1,
  testTimeout: scaled(300_000),
  hookTimeout: scaled(900_000),
  expect: { poll: { timeout: scaled(60_000) } },
};

/** The ladder of CONTRIBUTING.md: what is fake becomes less from project to project. */
export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          ...shared,
          name: 'unit',
          include: [
            '{src,rig,build}/**/*.test.{ts,tsx}',
            'test/{repo,contract,property,rbac,requirements,long}/**/*.test.ts',
          ],
        },
      },
      { test: { ...processes, name: 'host', include: ['test/host/**/*.test.ts'] } },
      {
        test: {
          ...processes,
          testTimeout: scaled(300_000),
          hookTimeout: scaled(300_000),
          expect: { poll: { timeout: scaled(60_000) } },
          name: 'chain',
          include: ['test/chain/**/*.test.ts'],
        },
      },
      {
        test: {
          ...real,
          fileParallelism: true,
          name: 'packaging',
          include: ['test/packaging/**/*.test.ts'],
        },
      },
      { test: { ...real, name: 'system', include: ['test/system/**/*.test.ts'] } },
      {
        test: {
          ...real,
          name: 'long',
          include: ['test/long/**/*.long.ts', 'test/property/disk-faults/*.long.ts'],
        },
      },
    ],
  },
});
