import { expect, test } from 'vitest';
import { address, host, link, macOf } from '../../../test/fixtures/agent-samples.ts';
import { linkOf } from '../identity.ts';
import type { Ip } from '../ip/session.ts';
import { presentState } from '../planning/nic-state.ts';
import type { Address, KernelSnapshot } from '../snapshot.ts';
import type { Context } from './context.ts';
import { settle } from './settle.ts';

const cidr = 'fd00::1/64';
const nic = {
  mac: macOf(1),
  belongings: { tables: [100], ips: ['fd00::1'], routes: [], rules: [] },
};

function kernel(probe?: Address['probe'], noCarrier = false): KernelSnapshot {
  const more = { name: 'multinic0', up: true, ...(noCarrier ? { noCarrier: true as const } : {}) };
  const addresses = [address('multinic0', cidr, probe ? { probe } : {})];
  return { ...host([link(1, more)], { addresses }), settings: new Map(), defaultSettings: {} };
}

const probing = 'going on';
const unplugged = kernel(probing, true);

/** `seen`: kernel snapshots in order; the last repeats. */
test.each<[string, readonly KernelSnapshot[], object]>([
  ['a missing carrier is no problem', [unplugged], { wrong: [], duplicate: [] }],
  [
    'a returning carrier with a unique address is no problem',
    [unplugged, kernel(probing), kernel(probing), kernel()],
    { wrong: [], duplicate: [] },
  ],
  [
    'a returning carrier with a duplicate address is reported',
    [unplugged, kernel(probing), kernel('failed')],
    { duplicate: [cidr] },
  ],
  [
    'a carrier lost during the probe is no problem',
    [kernel(probing), kernel(probing), unplugged],
    { wrong: [], duplicate: [] },
  ],
  [
    'a duplicate found before the carrier loss is reported',
    [kernel('failed', true)],
    { duplicate: [cidr] },
  ],
])('settle and an IPv6 address without a carrier: %s', async (_, seen, expected) => {
  const left = [...seen];
  const ip: Ip = {
    run: async () => ({
      seen: left.length > 1 ? (left.shift() as KernelSnapshot) : (left[0] as KernelSnapshot),
    }),
  };
  let elapsedMs = 0;
  const sleep = async (ms: number) => {
    elapsedMs += ms;
  };
  const clock = { monotonicMs: () => elapsedMs, sleep };
  const context = {
    ip,
    ipv6: true,
    clock,
    macs: new Set([nic.mac]),
    protectedAddresses: [],
    hostRoot: '/nowhere',
    sysctls: '/nowhere',
  };
  const goal = {
    nic,
    want: presentState(kernel(), linkOf(kernel(), nic.mac), nic.belongings),
    plugged: true,
  };
  // udev has not reacted to the rename yet, so reading continues after the first correct snapshot.
  const result = await settle([goal], context as unknown as Context, { renamedFrom: ['ens1'] });
  const found = { wrong: [...result.wrong.values()], duplicate: [...result.duplicate.values()] };
  expect(found).toMatchObject(expected);
});
