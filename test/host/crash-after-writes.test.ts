import { afterAll, beforeAll, describe, test } from 'vitest';
import { CrashHost, patience } from './crash-host.ts';

let crash: CrashHost;

beforeAll(async () => {
  crash = await CrashHost.open('crash-after');
});

afterAll(() => crash[Symbol.asyncDispose]());

describe('agent crash after a write', () => {
  test(
    '[RW-03] a crash after any external write leaves each NIC fully old or fully new, and the next run finishes',
    () => crash.dieAtEachWrite('after'),
    patience,
  );
});
