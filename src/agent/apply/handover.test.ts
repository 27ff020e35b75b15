import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FaultyBus } from '../../../test/fixtures/faulty-bus.ts';
import { systemClock } from '../../time/clock.ts';
import { busSocket, untilActivated } from './handover.ts';

const nic = { name: 'ens5', mac: 'fa:16:3e:00:00:05' };
let hostRoot: string;
let bus: FaultyBus;
beforeEach(async () => {
  hostRoot = mkdtempSync(join(tmpdir(), 'multinic-host-'));
  const socket = join(hostRoot, busSocket);
  mkdirSync(dirname(socket), { recursive: true });
  bus = await FaultyBus.listen(socket);
});
afterEach(async () => {
  await bus.close();
  rmSync(hostRoot, { recursive: true });
});

/** Pauses, which have no signal, pass at once. */
function access() {
  let elapsed = 0;
  const sleep = async (ms: number, signal?: AbortSignal) => {
    if (signal) await systemClock.sleep(ms, signal);
    else elapsed += ms;
  };
  return { hostRoot, clock: { ...systemClock, monotonicMs: () => elapsed, sleep } };
}

test.each([
  ['GetDeviceByIpIface', 'a renamed NIC is unknown'],
  ['ActivateConnection', 'a managed NIC has no listed profiles yet'],
])('the agent repeats a refused %s call: %s', async (member) => {
  bus.refuses = member;
  bus.refusals = 3;
  expect(await untilActivated(nic, access())).toBeUndefined();
  expect(bus.activated).toHaveLength(1);
});

test('the agent reports a lasting refusal after five seconds', async () => {
  bus.refuses = 'ActivateConnection';
  const host = access();
  expect(await untilActivated(nic, host)).toContain('no ActivateConnection for you');
  expect(host.clock.monotonicMs()).toBeGreaterThanOrEqual(5_000);
});
