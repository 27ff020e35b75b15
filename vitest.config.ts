import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import './test/node-version.ts';

// Most tests wait more than they work. Of two processors vitest would use one.
const maxWorkers = Math.max(3, availableParallelism());

// Vitest's own limit of one second is none of a busy machine.
const shared = {
  isolate: false,
  testTimeout: 20_000,
  hookTimeout: 60_000,
  expect: { poll: { timeout: 15_000 } },
};
// Tests on processes run the files of the images.
const shipped = { ...shared, globalSetup: './test/bundle.ts' };
// Tests on real parts share machines and ports: one file after the other, generous limits.
const real = {
  ...shipped,
  fileParallelism: false,
  testTimeout: 300_000,
  hookTimeout: 900_000,
  expect: { poll: { timeout: 60_000 } },
};

// Real processes on hosts of their own; nothing is built or installed.
const chain = { ...real, fileParallelism: true, hookTimeout: 120_000 };

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...shared,
          maxWorkers,
          name: 'unit',
          include: [
            '{src,rig,deploy}/**/*.test.ts',
            'test/{house,contract,property,faults,rights,seeds}/**/*.test.ts',
          ],
        },
      },
      {
        test: {
          ...shipped,
          maxWorkers,
          name: 'namespaces',
          include: ['test/namespaces/**/*.test.ts'],
        },
      },
      { test: { ...shipped, name: 'agent-faults', include: ['test/faults/agent/*.host.ts'] } },
      { test: { ...chain, maxWorkers, name: 'chain', include: ['test/chain/**/*.test.ts'] } },
      {
        test: {
          ...chain,
          // A deleted OpenstackConfig waits for what a killed operator may have sent.
          maxWorkers: 3,
          name: 'kills',
          include: ['test/kills/*.test.ts'],
        },
      },
      {
        test: {
          ...chain,
          // They wait more than they work.
          maxWorkers: 2,
          hookTimeout: 300_000,
          name: 'outages',
          include: ['test/outages/**/*.test.ts'],
        },
      },
      {
        test: {
          ...real,
          name: 'integration',
          include: ['test/{integration,boxes,guest}/**/*.test.ts'],
        },
      },
      { test: { ...real, name: 'openstack', include: ['test/openstack/**/*.test.ts'] } },
      { test: { ...real, name: 'e2e', include: ['test/e2e/**/*.test.ts'] } },
      { test: { ...real, name: 'rights-full', include: ['test/rights-full/**/*.test.ts'] } },
      { test: { ...real, name: 'attaches', include: ['test/attaches/**/*.test.ts'] } },
      { test: { ...real, name: 'skew', include: ['test/skew/**/*.test.ts'] } },
      { test: { ...real, name: 'migrate', include: ['test/migrate/**/*.test.ts'] } },
      { test: { ...real, name: 'kill-full', include: ['test/kills/real/*.test.ts'] } },
    ],
  },
});
