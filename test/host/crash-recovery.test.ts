import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CrashHost, change, patience, start } from './crash-host.ts';
import { stateOf } from './host-state.ts';

let crash: CrashHost;

beforeAll(async () => {
  crash = await CrashHost.open('crash-recovery');
});

afterAll(() => crash[Symbol.asyncDispose]());

describe('agent crash during recovery', () => {
  test.each(['agent.kernel.batch after 2', 'agent.file.commit after 1'])(
    'a crash during recovery from a crash at %s is recovered by the next run',
    async (moment) => {
      const die = async () => {
        await crash.settle(start);
        await crash.run(change, { killAt: moment });
      };
      await die();
      const { effects } = await crash.recover();
      const writes = effects.filter((effect) => !effect.startsWith('agent.result'));
      expect(writes.length).toBeGreaterThan(4);
      for (const again of writes) {
        await die();
        expect((await crash.recover({ killAt: again })).code, again).toBe(137);
        await crash.settle(change);
        expect(await stateOf(crash.host), `${moment}, then ${again}`).toEqual(crash.changed);
      }
    },
    patience,
  );
});
