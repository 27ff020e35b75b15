import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CrashHost, change, patience, start } from './crash-host.ts';
import { stateOf } from './host-state.ts';
import { ipWith } from './line-by-line-ip.ts';

let crash: CrashHost;

beforeAll(async () => {
  crash = await CrashHost.open('crash-batch');
});

afterAll(() => crash[Symbol.asyncDispose]());

describe('agent crash in a batch', () => {
  test(
    'a crash within a batch leaves each NIC fully old or fully new, and the next run succeeds',
    async () => {
      await crash.settle(start);
      // One `ip` process receives the lines of all batches in a run.
      let line = 1;
      for (let died = true; died; line++) {
        const each = `[ $number = ${line} ] && { kill -KILL $PPID; exit 1; }`;
        const path = await ipWith(crash.host, each);
        died = (await crash.run(change, { path })).code === 137;
        await crash.expectWholeNics(`line ${line}`);
        await crash.settle(start);
        expect(await stateOf(crash.host)).toEqual(crash.old);
      }
      expect(line).toBeGreaterThan(30);
    },
    patience,
  );
});
